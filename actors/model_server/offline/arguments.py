"""Arguments: what to give a tool, by what its parameters say of themselves and what the task names."""

import re
from typing import Any

import msgspec

from actors.model_server.offline.acting import act, has_effect
from actors.model_server.offline.addressing import found_before, group_in, message, named_in
from actors.model_server.offline.figures import numbers
from actors.model_server.offline.intent import main_intent, plain_intent
from actors.model_server.offline.job import Job
from actors.model_server.offline.listing import files
from actors.model_server.offline.naming import CODE, codes, names, phrase, quantities
from actors.model_server.offline.schema import Hints, Schema, filled, kind, properties, required, resolved
from actors.model_server.offline.shape import Offer
from actors.model_server.offline.words import CITED, overlap, stems, words

MOST_VALUES = 3
_EXAMPLES = re.compile(r"\bsuch as\b(.*?)(?:;|$)", re.IGNORECASE | re.DOTALL)
_BETWEEN = re.compile(r",\s*(?:or|and)\s+|,\s*|\s+or\s+|\s+and\s+")
_CHOICE = re.compile(r"\b(?:known|topics?|did you mean|choose|available|one of|\w+s are|there are)\b[^:?\n]{0,30}[:?]")
_MESSAGE = re.compile(r"message|text|body|note|reason|draft|content", re.IGNORECASE)
_TITLE = re.compile(r"^(?:subject|title|headline|topic)$", re.IGNORECASE)
_WHOM = re.compile(r"^(?:to|whom?|recipients?|persons?|people|owner|addressee|contact|customer|email)$", re.IGNORECASE)
_NAME = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]+$")


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
    """The input of each call that the task calls for: one, or one for each thing it names; none if it is not known."""
    known, subject, given = _wanted(one), _subject(one), _given(job, one)
    if unknown(job, one):
        return []
    if not subject:
        return [given]
    return [given | {subject: value} for value in values(job, _parameter(subject, known[subject]))]


def unknown(job: Job, one: Offer) -> list[str]:
    """The parameters of a tool for which neither the task nor what was found gives anything that is sure."""
    given = _given(job, one)
    return [name for name in _wanted(one) if name not in given and name != _subject(one)]


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
    listed = _listed(parameter, intent)
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


def _listed(parameter: Parameter, intent: str) -> list[str]:
    text = f" {' '.join(words(intent))} "
    return [one for one in parameter.examples if words(one) and f" {' '.join(words(one))} " in text]


def _form(name: str) -> tuple[bool, ...]:
    """Which of the words of a name begin with a capital letter."""
    return tuple(word[:1].isupper() for word in name.split())


def _codes_before(job: Job, *, dashed: bool) -> list[str]:
    """The codes in the results before this task, of the same form as the examples."""
    found = [code for part in job.context for code in codes(re.sub(r"\[[^\]]*\]", "", part.text))]
    return [code for code in dict.fromkeys(found) if ("-" in code) == dashed and code[:1].isupper()]


def _wanted(one: Offer) -> dict[str, Schema]:
    schema = one.tool.input_schema
    wanted = required(schema) or list(properties(schema))[:1]
    return {name: resolved(properties(schema).get(name, {}), schema) for name in wanted}


def _texts(one: Offer) -> list[str]:
    return [name for name, known in _wanted(one).items() if kind(known) == "string" and not known.get("enum")]


def _subject(one: Offer) -> str:
    """The one text that says what to look up; empty where several are wanted, or something is to be done."""
    texts = _texts(one)
    return texts[0] if len(texts) == 1 and not has_effect(one.tool) else ""


def _given(job: Job, one: Offer) -> dict[str, Any]:
    """What is sure of the input, each thing used for one parameter only."""
    found = _figures(job, one)
    asked = act(one.tool, main_intent(job)) or main_intent(job)
    texts = [] if _subject(one) else [_parameter(name, _wanted(one)[name]) for name in _texts(one)]
    for parameter in texts:
        fitting = [value for value in _fitting(job, parameter, asked) if value and value not in found.values()]
        if fitting:
            found[parameter.name] = fitting[0]
    open_ones = [parameter.name for parameter in texts if parameter.name not in found]
    if len(open_ones) == 1 and (len(texts) == 1 or not has_effect(one.tool)):
        # What is left of the words belongs to what is left of the parameters.
        taken = {word for value in found.values() for word in words(str(value))}
        rest = [word for word in phrase(asked.partition(" ")[2]).split() if word.lower() not in taken]
        found |= {open_ones[0]: " ".join(rest)} if rest else {}
    return found


def _figures(job: Job, one: Offer) -> dict[str, Any]:
    """Everything that is no text: each number of the task goes to one parameter of a kind."""
    schema, text = one.tool.input_schema, phrase(plain_intent(job)) or job.intent
    every = numbers(plain_intent(job)) or numbers(job.intent)
    left, seen, found = list(every), set[tuple[Any, ...]](), dict[str, Any]()
    for name, known in _wanted(one).items():
        if name in _texts(one):
            continue
        value = filled(known, schema, Hints(text, left))
        if kind(known) in ("integer", "number") and not known.get("enum") and "default" not in known:
            bounds = tuple(known.get(bound) for bound in ("type", "minimum", "maximum", "exclusiveMinimum"))
            if value in left:
                left.remove(value)
            elif bounds in seen or has_effect(one.tool):
                continue
            else:
                value = filled(known, schema, Hints(text, every))
            seen.add(bounds)
        found[name] = value
    return found


def _fitting(job: Job, parameter: Parameter, asked: str) -> list[str]:
    """What may be one text out of several that a tool wants, the best first: what to say, to whom, or about what."""
    if _MESSAGE.search(parameter.name):
        return [message(job, asked)]
    if _TITLE.search(parameter.name):
        return [phrase(message(job, asked))]
    if _WHOM.search(parameter.name) or any(_NAME.match(one) for one in parameter.examples):
        listed = _listed(parameter, plain_intent(job))
        whom = named_in(asked) or found_before(job) or (listed[0] if len(listed) == 1 else "") or group_in(asked)
        return [whom]
    return [*_alike(job, parameter, asked), *files(asked), *names(asked)]


def _parameter(name: str, schema: Schema) -> Parameter:
    description = str(schema.get("description", ""))
    match = _EXAMPLES.search(description)
    listed = match.group(1) if match else description.partition(";")[0]
    found = [one.strip(" .") for one in _BETWEEN.split(listed)]
    return Parameter(name=name, description=description, examples=tuple(one for one in found if one))
