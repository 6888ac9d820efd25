"""The texts of a run: what the condenser, the synthesizer, the report and the judge wrote, folded from their Events."""

from collections import Counter

import msgspec

from protocol.events import Condensed, Cut, Judged, Reported, Synthesized


class Texts:
    """`synthesis` and `judgement` belong to the current plan; `cuts_due` holds the `cut` Events still to write."""

    def __init__(self) -> None:
        self.condensed: dict[str, str] = {}
        self.synthesis: Synthesized | None = None
        self.reported = False
        self.judgement: Judged | None = None
        self.cuts_due: list[Cut] = []

    def begin_plan(self) -> None:
        """A new plan needs a new text; what was condensed stays."""
        self.synthesis = self.judgement = None
        self.reported = False

    def fold(self, event: Condensed | Synthesized | Reported | Cut | Judged, calls: "Counter[str]") -> str:
        """Take in an Event and count the call; returns the role that pays for it, empty if the Event is no news."""
        match event:
            case Condensed():
                return self._condensed(event)
            case Synthesized():
                calls["synthesize"] += 1
                return self._synthesized(event, calls["synthesize"])
            case Reported():
                calls["report"] += 1
                return self._reported(event)
            case Judged():
                calls["judge"] += 1
                return self._judged(event)
            case Cut():
                self.cuts_due = [cut for cut in self.cuts_due if (cut.what, cut.key) != (event.what, event.key)]
                return ""

    def _condensed(self, event: Condensed) -> str:
        if event.key in self.condensed:
            return ""
        self.condensed[event.key] = event.text
        self._note(Cut(what="condensed", key=event.key, task="+".join(event.tasks), reason=event.cut))
        return "synthesizer"

    def _synthesized(self, event: Synthesized, number: int) -> str:
        if self.synthesis is not None:
            return ""
        self.synthesis = event
        self.reported = _has_report(event)
        self._note(Cut(what="answer", key=str(number), reason=event.cut))
        return "synthesizer"

    def _reported(self, event: Reported) -> str:
        """The report becomes part of the synthesis, where older versions wrote it."""
        if self.synthesis is None or self.reported:
            return ""
        self.reported = True
        report = {name: getattr(event, name) for name in ("gaps", "contradictions", "confidence", "more")}
        self.synthesis = msgspec.structs.replace(self.synthesis, **report)
        return "report"

    def _judged(self, event: Judged) -> str:
        if self.judgement is not None:
            return ""
        self.judgement = event
        return "judge"

    def _note(self, cut: Cut) -> None:
        """If a text is not whole, a `cut` Event is due."""
        if cut.reason:
            self.cuts_due.append(cut)


def _has_report(synthesis: Synthesized) -> bool:
    """Whether an older version wrote the report into the same Event."""
    found = synthesis.gaps or synthesis.contradictions or synthesis.more
    return bool(found) or synthesis.confidence is not None
