"""The check of key and address before a team starts: one `count_tokens` call, which costs nothing."""

import asyncio

from actors.model.port import Call, Turn
from actors.settings import Settings
from observability.logger import get_logger
from observability.redaction import redacted
from protocol.errors import ModelError

CHECK_S = 4.0
"""How long the answer is waited for; a provider that is slow at the moment does not keep the team from starting."""

ADVICE = "`handoff doctor` checks key and address."
SENTENCES = {
    "authentication_error": "The model provider refuses the key: {why}. Set ANTHROPIC_API_KEY to a valid key, or unset "
    "it to use the offline model.",
    "billing_error": "The account of the key has no credit: {why}. Add credit in the provider's console.",
    "permission_error": "The key has no access to {model}: {why}. Set HANDOFF_MODEL_PLANNER to another model.",
    "not_found_error": "The provider has no model {model}: {why}. Set HANDOFF_MODEL_PLANNER to one that it has.",
    "unreachable": "The model cannot be reached: {why}. Check ANTHROPIC_BASE_URL and that the server runs.",
}

log = get_logger()


async def check_model(settings: Settings) -> None:
    """Raise ModelError, with what to do, if the provider refuses the key or cannot be reached.

    A server of one's own need not know `count_tokens` or the names of the models: what it says of these is ignored.
    """
    if settings.offline or settings.model_provider != "anthropic":
        return
    from actors.model.anthropic_api import AnthropicModel, Endpoint, warm

    endpoint = Endpoint(
        api_key=settings.anthropic_api_key, base_url=settings.anthropic_base_url, timeout_s=CHECK_S, retries=0
    )
    model = AnthropicModel(endpoint)
    turns = [Turn(role="user", content="hello")]
    call = Call(run="", role="check", system="", turns=turns, model=settings.model_planner)
    await warm()  # takes a second or more, which is not the provider's
    try:
        async with asyncio.timeout(CHECK_S):
            await model.count(call)
    except TimeoutError:
        log.warning("model.check_timed_out", seconds=CHECK_S)
    except ModelError as error:
        if sentence := _sentence(error, settings):
            raise ModelError(error.kind, f"{sentence} {ADVICE}", retryable=False) from error
        log.info("model.check_ignored", kind=error.kind, error=redacted(str(error)))
    finally:
        await model.close()


def _sentence(error: ModelError, settings: Settings) -> str:
    """What to tell the user; empty if the team may start all the same."""
    if error.kind == "not_found_error" and settings.anthropic_base_url:
        return ""
    why = redacted(str(error)).rstrip(".")
    return SENTENCES.get(error.kind, "").format(why=why, model=settings.model_planner)
