"""Arguments: what to give a tool, by what its parameters say of themselves and what the task names."""

import re
from typing import Any

import msgspec

from actors.model.offline.figures import numbers
from actors.model.offline.intent import plain_intent, whole_request
from actors.model.offline.job import Job
from actors.model.offline.listing import is_empty
from actors.model.offline.naming import CODE, codes, names, phrase, quantities
from actors.model.offline.schema import Hints, Schema, filled, kind, properties, required, resolved
from actors.model.offline.shape import Offer
from actors.model.offline.words import CITED, overlap, stems, words

MOST_VALUES = 3
MOST_CHARACTERS = 1000
SHORT = 3
_EXAMPLES = re.compile(r"\bsuch as\b(.*?)(?:;|$)", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(r",\s*(?:or|and)\s+|,\s*|\s+or\s+|\s+and\s+")
_CHOICE = re.compile(r"\b(?:known|topics?|did you mean|choose|available|one of|\w+s are|there are)\b[^:?\n]{0,30}[:?]")
_MESSAGE = re.compile(r"message|text|body|note|reason|draft|what is wrong", re.IGNORECASE)


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A text that a tool wants: what it says of itself, and the examples it gives."""

    name: str
    description: str
    examples: tuple[str, ...]

    @property
    def combined(self) -> bool:
        """Whether it wants several things in one, such as the patient and the test."""
        return re.search(r"\band\b", _EXAMPLES.sub("", self.description).partition(";")[0]) is not None

    @property
    def several(self) -> bool:
        """Whether several values go into one call."""
        return self.name.endswith("s") and not self.name.endswith("ss")


def arguments(job: Job, one: Offer) -> list[dict[str, Any]]:
    """The input of each call that the task calls for: one, or one for each thing it names."""
    schema = one.tool.input_schema
    wanted = required(schema) or list(properties(schema))[:1]
    known = {name: resolved(properties(schema).get(name, {}), schema) for name in wanted}
    plain = [name for name in wanted if kind(known[name]) == "string" and not known[name].get("enum")]
    rest = {name: filled(known[name], schema, _hints(job)) for name in wanted if name not in plain}
    if len(plain) != 1:
        return [rest | {name: _single(job, _parameter(name, known[name])) for name in plain}]
    return [rest | {plain[0]: value} for value in values(job, _parameter(plain[0], known[plain[0]]))]


def values(job: Job, parameter: Parameter) -> list[str]:
    """What to give for a text: what the task names of the kind that the examples show, or the whole phrase."""
    intent = plain_intent(job)
    found = [] if parameter.combined else _alike(job, parameter, intent)
    if not found:
        return [phrase(intent) or intent]
    return [" and ".join(found)] if parameter.several else found[:MOST_VALUES]


def proposed(job: Job, output: str) -> list[str]:
    """The values that a tool names when it does not know what it was given, as far as the task speaks of them."""
    match = _CHOICE.search(output) or _CHOICE.search(output.lower())
    if match is None or any(CITED.search(line) for line in output.splitlines()):
        return []
    said = stems(" ".join([job.intent, *(part.text for part in job.context)]))
    options = [option.strip(" .'\"") for option in _BETWEEN.split(output[match.end() :])]
    fitting = [option for option in dict.fromkeys(options) if option and overlap(option, said) == len(stems(option))]
    return fitting[:MOST_VALUES]


def _alike(job: Job, parameter: Parameter, intent: str) -> list[str]:
    """What is of the kind of the examples: one of them, a code, a name or a quantity."""
    text = f" {' '.join(words(intent))} "
    listed = [one for one in parameter.examples if words(one) and f" {' '.join(words(one))} " in text]
    # A name that happens to be an example may stand beside others; what is listed in plain words is a choice.
    if listed and not any(one[:1].isupper() for one in listed):
        return listed
    if any(CODE.fullmatch(one) for one in parameter.examples):
        letters = {len(one.partition("-")[0]) if "-" in one else 0 for one in parameter.examples if CODE.fullmatch(one)}
        if found := codes(intent) or _codes_before(job, dashed=0 not in letters):
            return found
    if any(one[:1].isupper() for one in parameter.examples) and (found := names(intent)):
        forms = {_form(one) for one in parameter.examples if one[:1].isupper()}
        others = [one for one in found if not any(known in one for known in listed)]
        return listed + [one for one in others if _form(one) in forms] or found
    return quantities(intent)[:1] if any(re.match(r"\d", one) for one in parameter.examples) else []


def _form(name: str) -> tuple[bool, ...]:
    """Which of the words of a name begin with a capital letter."""
    return tuple(word[:1].isupper() for word in name.split())


def _codes_before(job: Job, *, dashed: bool) -> list[str]:
    """The codes in the results before this task, of the same form as the examples."""
    found = [code for part in job.context for code in codes(re.sub(r"\[[^\]]*\]", "", part.text))]
    return [code for code in dict.fromkeys(found) if ("-" in code) == dashed and code[:1].isupper()]


def _single(job: Job, parameter: Parameter) -> str:
    """One text out of several that a tool wants: what there is to say, or whom or what it is about."""
    if _MESSAGE.search(parameter.name):
        whole = whole_request(job) or plain_intent(job)
        statement, _, question = whole.partition(": ")
        # What is wrong stands before the colon, what to do about it behind.
        return (statement if question and len(words(statement)) > SHORT else whole)[:MOST_CHARACTERS]
    said = [use.output for use in job.uses if not use.failed and not is_empty(use.output)]
    said += [part.text for part in job.context]
    if any(one[:1].isupper() for one in parameter.examples):
        found = [name for text in said for name in re.findall(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b", text)]
        if found:
            return found[0]
    return values(job, parameter)[0]


def _parameter(name: str, schema: Schema) -> Parameter:
    description = str(schema.get("description", ""))
    match = _EXAMPLES.search(description)
    listed = match.group(1) if match else description.partition(";")[0]
    found = [one.strip(" .") for one in _BETWEEN.split(listed)]
    return Parameter(name=name, description=description, examples=tuple(one for one in found if one))


def _hints(job: Job) -> Hints:
    return Hints(phrase(plain_intent(job)) or job.intent, numbers(job.intent))
