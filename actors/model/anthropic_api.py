"""The adapter to the anthropic SDK: the only place that imports it, and only when it is first needed.

Retries happen in one layer, this one; those of the SDK are off. A refusal is a stop reason, not an error.
"""

import asyncio
import importlib
import random
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from actors.clock import Clock, SystemClock
from actors.model.failure import status_failure
from actors.model.port import Call, Ready, Reply
from actors.model.price import price_usd
from actors.model.profiles import Profile, profile_of, refined
from actors.model.retry import RetryPolicy
from actors.model.wire import blocks_of, container_of, content_of, usage_of, wire_of
from observability import live
from observability.logger import get_logger
from protocol.errors import ModelError
from protocol.messages import Usage

if TYPE_CHECKING:
    # Only for the checker: the import takes more than a second.
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

_MODULES = (
    "anthropic",
    "anthropic.resources.messages",
    "anthropic.resources.models",
    "anthropic.lib.streaming",
    "genai_prices",
)
_NO_KEY = "not-needed"
_CLOUD_CLIENTS = {"bedrock": "AsyncAnthropicBedrock", "vertex": "AsyncAnthropicVertex"}

PROFILE_S = 2.0
"""How long `models.retrieve` may take."""

T = TypeVar("T")
Provider = Literal["anthropic", "bedrock", "vertex"]
"""Whose client of the SDK makes the calls; all of them speak the Messages API."""
Answer = dict[str, Any]
"""A message of the model as the provider's own JSON."""

log = get_logger()


async def warm() -> None:
    """Import what the first call needs, in a thread, while something else goes on."""
    await asyncio.to_thread(_import_all)


def _import_all() -> None:
    for name in _MODULES:
        importlib.import_module(name)


@dataclass(frozen=True)
class Endpoint:
    """Where the model is and how patiently it is asked.

    `timeout_s` is the longest silence, not the whole call. `patience_s` is how long a call waits in all for a provider
    that is busy or away, if the call itself does not say. `offline`: it is the local offline model, which may start
    after the actor that asks it, so a refused connection is waited for from the first call on.
    """

    _: KW_ONLY
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    model: str = ""
    timeout_s: float = 120.0
    retries: int = 4
    patience_s: float = 300.0
    offline: bool = False
    provider: Provider = "anthropic"


class AnthropicModel:
    """A model behind the Messages API."""

    def __init__(
        self, endpoint: Endpoint, *, clock: Clock | None = None, luck: Callable[[], float] = random.random
    ) -> None:
        if endpoint.provider == "anthropic" and not endpoint.api_key and not endpoint.base_url:
            raise ModelError(
                "authentication_error",
                "there is no key for the model: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own",
                retryable=False,
            )
        self._endpoint = endpoint
        self._clock = clock or SystemClock()
        self._luck = luck
        self._opened: AsyncAnthropic | None = None
        self._opening = asyncio.Lock()
        self._reached = endpoint.offline
        self._answering: dict[str, str] = {}
        self._refining = asyncio.Lock()
        self._profiles: dict[str, Profile] = {}

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: Ready | None = None) -> Reply:
        """Ask, and try again as `RetryPolicy` says. After a stream that broke, `said` hears the reply from its start.

        `ready` runs right before each attempt, so after every wait; what it raises ends the call unpaid.
        """
        began = self._clock.monotonic()
        await self._open()
        patience_s = self._endpoint.patience_s if call.patience_s is None else call.patience_s
        policy = RetryPolicy(retries=self._endpoint.retries, patience_s=patience_s, luck=self._luck)
        while True:
            if ready is not None:
                await ready()
            try:
                answer = await self._measured(call, said)
            except ModelError as error:
                elapsed_s = self._clock.monotonic() - began
                await self._pause(error, policy.wait_after(error, elapsed_s, reached=self._reached))
            else:
                reply = _reply(answer, call.model, self._clock.monotonic() - began)
                self._answering[call.model] = reply.model
                return reply

    async def count(self, call: Call) -> int:
        """How many tokens the call brings with it, as the provider counts them; asked once."""
        await self._open()
        asked = wire_of(call, self._endpoint.model)
        for name in ("max_tokens", "container"):
            asked.pop(name, None)
        return await self._told(self._count(asked))

    async def price(self, model: str, usage: Usage) -> float | None:
        """The price by the name of the model that answered the last call for `model`.

        Before the first answer of a server that was named by its address the price is unknown: any model may answer.
        """
        await self._open()
        answering = self._answering.get(model, "" if self._endpoint.base_url else model)
        return price_usd(answering, usage) if answering else None

    async def profile(self, name: str) -> Profile:
        """The profile of a model. One that the table does not know is refined once by `models.retrieve`, which is free.

        A failure leaves the cautious profile: no run waits for it longer than `PROFILE_S`.
        """
        if (profile := profile_of(name)).known:
            return profile
        async with self._refining:
            if name not in self._profiles:
                self._profiles[name] = await self._refined(name or self._endpoint.model)
            return self._profiles[name]

    async def _refined(self, name: str) -> Profile:
        profile = profile_of(name)
        try:
            async with asyncio.timeout(PROFILE_S):
                client = await self._open()
                info = await client.models.retrieve(name, timeout=PROFILE_S)
                return refined(profile, info.to_dict(mode="json", warnings=False))
        except Exception as error:  # noqa: BLE001  the server may have no such call, or answer anything to it
            log.debug("model.profile_not_refined", model=name, reason=f"{type(error).__name__}: {error}"[:200])
            return profile

    async def close(self) -> None:
        """Let go of connections."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()

    async def _pause(self, error: ModelError, seconds: float) -> None:
        live.asked_again()
        log.warning("model.retrying", kind=error.kind, wait_s=round(seconds, 3))
        await self._clock.sleep(seconds)

    async def _measured(self, call: Call, said: Callable[[str], None] | None) -> Answer:
        asked = self._clock.monotonic()
        try:
            answer = await self._attempt(call, said)
        except ModelError as error:
            live.model_called(call.role, call.model, Usage(seconds=self._clock.monotonic() - asked), error.kind)
            raise
        if live.listening():
            seconds = self._clock.monotonic() - asked
            live.model_called(call.role, call.model, _reply(answer, call.model, seconds).usage)
        return answer

    async def _attempt(self, call: Call, said: Callable[[str], None] | None) -> Answer:
        answer = await self._told(self._send(call, said))
        if answer.get("stop_reason") is None:
            raise ModelError("cut_off", "the answer broke off before its end", retryable=True)
        return answer

    async def _told(self, answer: Awaitable[T]) -> T:
        """The answer, or what kept us from getting it as a ModelError."""
        import anthropic
        import httpx2

        try:
            found = await answer
        except anthropic.APIStatusError as error:
            self._reached = True
            text = error.api_message or error.message
            headers = dict(error.response.headers)
            raise status_failure(error.status_code, error.type, text, headers, now=self._clock.now()) from error
        except (anthropic.APITimeoutError, httpx2.TimeoutException) as error:
            silence = f"nothing came from {self._where} for {self._endpoint.timeout_s:g} s"
            raise ModelError("timeout_error", silence, retryable=True) from error
        # Inside a stream the SDK lets the errors of its transport through.
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            cause = error.__cause__ or error
            self._reached = self._reached or not isinstance(cause, httpx2.ConnectError)
            why = str(cause) or type(cause).__name__
            raise ModelError("unreachable", f"no whole answer from {self._where}: {why}", retryable=True) from error
        except Exception as error:
            # The SDK trusts the server: a page of HTML, or an answer without its parts, ends in any error there is.
            why = f"{error}" or type(error).__name__
            message = f"the answer of {self._where} cannot be read; does it speak the Messages API? ({why})"
            raise ModelError("unreadable", message, retryable=True) from error
        self._reached = True
        return found

    async def _count(self, asked: dict[str, Any]) -> int:
        return (await (await self._open()).messages.count_tokens(**asked)).input_tokens

    async def _send(self, call: Call, said: Callable[[str], None] | None) -> Answer:
        client = await self._open()
        telemetry: Any = {**client.open_telemetry, "conversation_id": call.run}
        messages = client.with_options(open_telemetry=telemetry).messages
        asked = wire_of(call, self._endpoint.model)
        if said is None:
            return _answer(await messages.create(**asked, stream=False))
        async with messages.stream(**asked) as stream:
            async for text in stream.text_stream:
                said(text)
            return _answer(await stream.get_final_message())

    async def _open(self) -> "AsyncAnthropic":
        async with self._opening:
            if self._opened is None:
                # Certificates are read here too, which would hold up the loop.
                self._opened = await asyncio.to_thread(self._new_client)
            return self._opened

    def _new_client(self) -> "AsyncAnthropic":
        _import_all()
        import anthropic

        options: Any = {"timeout": self._endpoint.timeout_s, "max_retries": 0}
        if self._endpoint.provider == "anthropic":
            key, url = self._endpoint.api_key or _NO_KEY, self._endpoint.base_url or None
            return anthropic.AsyncAnthropic(api_key=key, base_url=url, **options)
        try:
            return getattr(anthropic, _CLOUD_CLIENTS[self._endpoint.provider])(**options)
        except (ValueError, ImportError) as error:
            # Region, project and credentials of a cloud come from its own environment variables.
            why = f"the client for {self._endpoint.provider} cannot be made: {error}"
            raise ModelError("configuration", why, retryable=False) from error

    @property
    def _where(self) -> str:
        return self._endpoint.base_url or f"the provider ({self._endpoint.provider})"


def _answer(message: "Message") -> Answer:
    """The answer as JSON; ValueError if it is not one that can be worked with."""
    if isinstance(message, str):  # as the SDK gives back whatever is not JSON
        raise ValueError("it is no JSON")
    answer = message.to_dict(mode="json", warnings=False)
    return answer | {"content": content_of(blocks_of(answer.get("content")))}


def _reply(answer: Answer, asked: str, seconds: float) -> Reply:
    """What is not told, as by some servers of one's own, is the model that was asked, and no usage."""
    model = answer.get("model")
    model = model if isinstance(model, str) else asked
    container, expires = container_of(answer.get("container"))
    return Reply(
        model=model,
        content=answer["content"],
        stop_reason=str(answer["stop_reason"]),
        usage=usage_of(model, answer.get("usage"), seconds, answer["content"]),
        container=container,
        container_expires=expires,
        stop_details=cast("Answer", details) if isinstance(details := answer.get("stop_details"), dict) else {},
    )
