"""The script: answers and mishaps by rules from a file, for tests that want to know exactly what the model says.

A script is a JSON list of rules, the same as JSON lines, or an object with `rules` and settings for all of them. The
first rule that matches and is not used up answers; where none matches, the offline rules answer, unless it is strict.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from actors.model_server.format_requests import answer, role_of
from actors.model_server.offline.request import Asked
from actors.model_server.offline.turn import Spoken, ToolCall, tool_turn
from actors.model_server.reaction import Mishap, Reaction
from protocol.errors import InvalidError


class ScriptedTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One use of a tool that the model asks for."""

    name: str
    input: dict[str, Any] = {}


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What matches, then what is answered, then what goes wrong with it; every part may be left out.

    Without `text`, `tool_use` or `plan` the offline rules give the answer that the mishap happens to.
    """

    role: Literal["planner", "worker", "synthesizer", "refiner", "judge", "report", "other"] | None = None
    contains: str = ""
    turns: int | None = None
    times: int | None = None
    text: str | None = None
    tool_use: list[ScriptedTool] = []
    plan: dict[str, Any] | None = None
    stop_reason: str = ""
    refusal_category: str | None = None
    thinking: str = ""
    thinking_tokens: int | None = None
    model: str = ""
    status: int = 0
    error: str = ""
    message: str = ""
    retry_after_s: float | None = None
    cut: bool | Literal["end", "drop"] = False
    stall_s: float = 0.0
    error_event: str = ""
    delay_s: float | None = None

    def matches(self, asked: Asked) -> bool:
        """Whether the rule is meant for this request; `contains` looks at the system prompt and the last user turn."""
        if self.role is not None and self.role not in _roles(asked):
            return False
        if self.turns is not None and self.turns != len(asked.messages):
            return False
        return self.contains in asked.user_texts[-1] or self.contains in asked.system_text


class Script(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules in order; `strict` answers 500 where none matches; `delay_s` is for every rule without its own."""

    rules: list[Rule] = []
    strict: bool = False
    delay_s: float = 0.0


class Scripted:
    """Reacts by a script, and counts how often each rule was used."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._used = [0] * len(script.rules)

    def react(self, asked: Asked) -> Reaction:
        """The reaction of the first rule that matches and is not used up."""
        for at, rule in enumerate(self._script.rules):
            if (rule.times is None or self._used[at] < rule.times) and rule.matches(asked):
                self._used[at] += 1
                return Reaction(spoken=_spoken(rule, asked), mishap=_mishap(rule, self._script.delay_s))
        if self._script.strict:
            reason = f"no rule of the script matches this {role_of(asked)} request: {asked.user_texts[-1][:200]}"
            return Reaction(spoken=Spoken(), mishap=Mishap(status=500, message=reason))
        return Reaction(spoken=answer(asked), mishap=Mishap(delay_s=self._script.delay_s))


def read_script(path: Path) -> Script:
    """The script in a file, or InvalidError with every fault and where it is."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidError([f"script {path}: {error.strerror}"]) from error
    try:
        return _parsed(text)
    except msgspec.DecodeError as whole:
        if text.lstrip()[:1] == b"[" or text.count(b"\n{") == 0:
            raise InvalidError([f"{path}: {whole}"]) from whole
    return Script(rules=_lines(path, text.splitlines()))


def _parsed(text: bytes) -> Script:
    if text.lstrip()[:1] == b"[":
        return Script(rules=msgspec.json.decode(text, type=list[Rule]))
    if isinstance(msgspec.json.decode(text), dict) and not {"rules", "strict"} & set(msgspec.json.decode(text)):
        return Script(rules=[msgspec.json.decode(text, type=Rule)])
    return msgspec.json.decode(text, type=Script)


def _lines(path: Path, lines: Sequence[bytes]) -> list[Rule]:
    rules: list[Rule] = []
    faults: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            rules += [msgspec.json.decode(line, type=Rule)] if line.strip() else []
        except msgspec.DecodeError as error:
            faults.append(f"{path}, line {number}: {error}")
    if faults:
        raise InvalidError(faults)
    return rules


def _roles(asked: Asked) -> set[str]:
    """The roles that a request may be called by. A report shows the results too, but it is no synthesis."""
    own = role_of(asked)
    return {own} if own == "report" else {own, asked.role}


def _spoken(rule: Rule, asked: Asked) -> Spoken:
    if rule.plan is not None:
        # A plan goes where plans are expected: into the tool that is forced.
        spoken = tool_turn([ToolCall(asked.forced.name if asked.forced else "plan", rule.plan)])
    elif rule.text is not None or rule.tool_use:
        spoken = tool_turn([ToolCall(use.name, use.input) for use in rule.tool_use], rule.text or "")
    else:
        spoken = answer(asked)
    return Spoken(
        text=spoken.text,
        calls=spoken.calls,
        stop_reason=rule.stop_reason or spoken.stop_reason,
        model=rule.model or spoken.model,
        thinking=rule.thinking,
        thinking_tokens=rule.thinking_tokens,
        refusal_category=rule.refusal_category,
    )


def _mishap(rule: Rule, delay_s: float) -> Mishap:
    return Mishap(
        delay_s=delay_s if rule.delay_s is None else rule.delay_s,
        status=rule.status,
        error=rule.error,
        message=rule.message,
        retry_after_s=rule.retry_after_s,
        cut="end" if rule.cut is True else rule.cut or "",
        stall_s=rule.stall_s,
        error_event=rule.error_event,
    )
