"""The offline model: which actors of a team ask it, why, and the line of an answer that says so."""

from collections.abc import Iterable, Mapping

from protocol.messages import Usage

OFFLINE = "offline-rules"
"""How the model of an actor is called on its card if the offline model answers; prices know it by `offline-`."""

SUPERVISOR = "supervisor"
VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")
MEANT = (*VARIABLES, *(f"HANDOFF_{name}" for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")))


def empty_variables(environment: Mapping[str, str]) -> str:
    """Why a key was meant although there is none: which variables are set and hold nothing; empty if none."""
    empty = [name for name in MEANT if name in environment and not environment[name].strip()]
    return f"{' and '.join(empty)} {'are' if len(empty) > 1 else 'is'} set but empty" if empty else ""


def offline_name(reason: str) -> str:
    """The name of the offline model on a card, with the reason if a key was meant."""
    return f"{OFFLINE} ({reason})" if reason else OFFLINE


def reason_in(model: str) -> str:
    """The reason in the name of a model on a card; empty if it is not the offline model or if no key was meant."""
    return model.partition("(")[2].removesuffix(")") if model.startswith(f"{OFFLINE} (") else ""


def is_mixed(models: Iterable[str]) -> bool:
    """Whether some of these models are the offline model and some are not; an empty name is no model."""
    return len({model.startswith(OFFLINE) for model in models if model}) > 1


def first_line(models: Mapping[str, str], spending: Mapping[str, Usage]) -> str:
    """What the answer of a run must begin with if the offline model worked on it and a key was meant; else empty.

    `models` are those of the workers and of the supervisor, by name. A key was meant if an actor says so, or if actors
    of the same team differ. Whatever is in `spending` and is no worker is a role of the supervisor.
    """
    own = models.get(SUPERVISOR, "")
    asked = {name: models.get(name, own) for name, usage in spending.items() if usage.model_calls}
    offline = sorted(name for name, model in asked.items() if model.startswith(OFFLINE))
    reasons = sorted({reason for name in offline if (reason := reason_in(asked[name]))})
    if is_mixed(models.values()):
        reasons.append("others of this team ask a language model")
    if not offline or not reasons:
        return ""
    return f"(offline model: {', '.join(offline)} answered by rules, not by a language model: {'; '.join(reasons)})"
