"""The rules: who is asked, and so who answers."""

from xml.sax.saxutils import unescape

from actors.model_server.offline.figures import numbers
from actors.model_server.offline.planner import plan
from actors.model_server.offline.request import Asked
from actors.model_server.offline.schema import Hints, filled, properties
from actors.model_server.offline.sections import section
from actors.model_server.offline.synthesizer import synthesize
from actors.model_server.offline.turn import Spoken, ToolCall, text_turn, tool_turn
from actors.model_server.offline.words import shortened
from actors.model_server.offline.worker import work
from actors.model_server.reaction import Reaction


def speak(asked: Asked) -> Spoken:
    """What the offline model says to a request."""
    match asked.role:
        case "planner":
            return plan(asked)
        case "worker":
            spoken = work(asked)
        case "synthesizer":
            spoken = synthesize(asked)
        case "other":
            spoken = _echo(asked)
    return _in_tool(asked, spoken) if asked.forced and not spoken.calls else spoken


def react(asked: Asked) -> Reaction:
    """The same, as a reaction without mishaps."""
    return Reaction(spoken=speak(asked))


def _echo(asked: Asked) -> Spoken:
    if (intent := section(asked.user_texts[-1], "intent")) is not None:
        return Spoken(
            text=unescape(intent)
        )  # other words for a task that failed: rules know none, so it stays as it is
    return text_turn(f"There is no rule for this. What was asked: {shortened(asked.user_texts[-1], 500)}")


def _in_tool(asked: Asked, spoken: Spoken) -> Spoken:
    """The text as the input of the tool that must be used."""
    tool = asked.forced
    if tool is None:
        return spoken
    given = filled(tool.input_schema, tool.input_schema, Hints(spoken.text, numbers(asked.user_texts[-1])))
    texts = [
        name for name in properties(tool.input_schema) if name in ("text", "answer", "output", "summary", "intent")
    ]
    return tool_turn([ToolCall(tool.name, given | dict.fromkeys(texts[:1], spoken.text))])
