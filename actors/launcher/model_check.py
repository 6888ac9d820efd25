"""The check of key and address before a team starts: one `count_tokens` call, which costs nothing."""

import asyncio

from actors.model.failure import ACCOUNT_KINDS, account_sentence
from actors.model.port import Call, Turn
from actors.settings import Settings
from observability.logger import get_logger
from observability.redaction import redacted
from protocol.errors import ModelError

CHECK_S = 4.0
"""How long the answer is waited for; a provider that is slow at the moment does not keep the team from starting."""

log = get_logger()


async def check_model(settings: Settings) -> None:
    """Raise ModelError, with what to do, if the provider refuses the key or cannot be reached.

    A local server may not know `count_tokens` or the names of the models. Such answers do not stop the start.
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
        if _keeps_from_starting(error, settings):
            sentence = account_sentence(error, settings.model_planner)
            raise ModelError(error.kind, sentence, retryable=False) from error
        log.info("model.check_ignored", kind=error.kind, error=redacted(str(error)))
    finally:
        await model.close()


def _keeps_from_starting(error: ModelError, settings: Settings) -> bool:
    if error.kind == "not_found_error" and settings.anthropic_base_url:
        return False  # the server may not know `count_tokens`
    return error.kind == "unreachable" or error.kind in ACCOUNT_KINDS
