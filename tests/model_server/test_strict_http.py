"""The strict server as an HTTP server: accounts, models, sizes, and which profile holds for a request."""

import json
from pathlib import Path

import anthropic
import httpx2
import pytest

from actors.model.profiles import PROFILES as OURS
from actors.model_server.api_keys import ACCOUNTS
from actors.model_server.checks.limits import LARGEST_BODY
from actors.model_server.checks.tools import FORCED
from actors.model_server.profiles import PROFILES, profile_of_model
from actors.model_server.scripted import Rule
from actors.model_server.serve import offline_server, profile_named
from protocol.errors import InvalidError
from tests.model_server.strict_requests import CHECKED, MODELS, TOOL, create, request, server

HEADERS = {"x-api-key": "any", "anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("key", "status", "kind"),
    [
        ("wrong-key", 401, "authentication_error"),
        ("no-credit", 402, "billing_error"),
        ("no-access", 403, "permission_error"),
        ("rate-limited", 429, "rate_limit_error"),
        ("spend-cap", 429, "rate_limit_error"),
        ("overloaded", 529, "overloaded_error"),
    ],
)
async def test_some_keys_play_an_account_that_is_refused(key: str, status: int, kind: str) -> None:
    async with server() as client:
        for call in (create, count):
            with pytest.raises(anthropic.APIStatusError) as caught:
                await call(client.with_options(api_key=key))
            assert (caught.value.status_code, caught.value.type) == (status, kind)
            assert ("retry-after" in caught.value.response.headers) == (key == "rate-limited")
    assert len(ACCOUNTS) == 6


async def count(client: anthropic.AsyncAnthropic) -> None:
    await client.messages.count_tokens(model="claude-sonnet-5-5", messages=[{"role": "user", "content": "hi"}])


async def test_a_request_needs_a_key_and_a_version() -> None:
    async with offline_server() as url, httpx2.AsyncClient(base_url=url) as http:
        keyless = await http.post("/v1/messages", json=request(), headers={"anthropic-version": "2023-06-01"})
        unversioned = await http.post("/v1/messages", json=request(), headers={"x-api-key": "any"})
        good = await http.post("/v1/messages", json=request(), headers=HEADERS)
    assert (keyless.status_code, keyless.json()["error"]["type"]) == (401, "authentication_error")
    assert (unversioned.status_code, good.status_code) == (400, 200)


async def test_a_body_of_more_than_32_mb_is_too_large() -> None:
    async with offline_server() as url, httpx2.AsyncClient(base_url=url, timeout=60) as http:
        response = await http.post("/v1/messages", content=b" " * (LARGEST_BODY + 1), headers=HEADERS)
    assert (response.status_code, response.json()["error"]["type"]) == (413, "request_too_large")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 20_000, b'{"model": "claude-sonnet-5-5"}', b"{}"])
async def test_a_body_that_is_no_request_is_refused(body: bytes) -> None:
    async with offline_server(profile="sonnet-5-5") as url, httpx2.AsyncClient(base_url=url) as http:
        for path in ("/v1/messages", "/v1/messages/count_tokens"):
            response = await http.post(path, content=body, headers=HEADERS)
            assert (response.status_code, response.json()["error"]["type"]) == (400, "invalid_request_error")


async def test_a_model_that_the_provider_does_not_have_is_not_found() -> None:
    async with server() as client:
        for model in ("claude-sonet-5-5", "sonnet-5-5", "unknown", "claude-unknown"):
            with pytest.raises(anthropic.NotFoundError, match=f"model: {model}"):
                await create(client, model=model)


async def test_the_model_of_a_request_tells_its_profile_and_a_named_profile_holds_for_every_model() -> None:
    forced = {"tools": [TOOL], "tool_choice": {"type": "any"}}
    async with server() as client:
        with pytest.raises(anthropic.BadRequestError) as caught:
            await create(client, **forced)
        assert FORCED in caught.value.message
        await create(client, model="claude-haiku-5-5", **forced)
        await create(client, model="claude-haiku-5-5-20260901", **forced)
    async with server(profile="opus-5-5") as client:
        for model in ("claude-haiku-5-5", "my-model"):
            with pytest.raises(anthropic.BadRequestError):
                await create(client, model=model, **forced)


async def test_a_refused_request_is_in_the_log_with_the_sentence(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with (
        offline_server(log=log) as url,
        anthropic.AsyncAnthropic(api_key="any", base_url=url, max_retries=0) as client,
    ):
        with pytest.raises(anthropic.BadRequestError):
            await create(client, tools=[TOOL], tool_choice={"type": "any"})
    line = json.loads(log.read_text())
    assert (line["event"], line["status"], line["reason"]) == ("refused", 400, FORCED)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(402, "billing_error"), (409, "conflict_error"), (504, "timeout_error"), (529, "overloaded_error")],
)
async def test_a_script_gives_an_error_its_documented_type(status: int, kind: str) -> None:
    async with server(Rule(status=status, retry_after_s=3)) as client:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await create(client)
    assert (caught.value.status_code, caught.value.type) == (status, kind)
    assert caught.value.response.headers["retry-after"] == "3"


async def test_the_unknown_server_takes_any_model_and_any_key() -> None:
    async with server(Rule(text="a"), profile="unknown") as client:
        message = await create(client.with_options(api_key="wrong-key"), model="any")
    assert [block.type for block in message.content] == ["text"]


def test_a_profile_that_does_not_exist_is_an_error_that_names_the_others() -> None:
    with pytest.raises(InvalidError, match="sonnet-5-5"):
        profile_named("gpt")


@pytest.mark.parametrize("profile", CHECKED)
async def test_the_models_api_tells_what_the_profile_takes(profile: str) -> None:
    row = PROFILES[profile]
    async with server() as client:
        info = await client.models.retrieve(MODELS[profile])
        with pytest.raises(anthropic.NotFoundError):
            await client.models.retrieve("claude-2")
    assert info.capabilities is not None
    types = info.capabilities.thinking.types.to_dict()
    assert {kind for kind, able in types.items() if able == {"supported": True}} == set(row.thinking_types)
    assert (info.max_input_tokens, info.max_tokens) == (row.context_tokens, row.output_tokens)
    assert info.capabilities.structured_outputs.supported is row.formats
    assert info.capabilities.effort.max.supported is ("max" in row.efforts)


@pytest.mark.parametrize("profile", CHECKED)
def test_our_client_and_the_stand_in_agree_about_each_model(profile: str) -> None:
    """Two tables, each written from the documentation. Ours may claim less than the provider takes, never more."""
    row, ours = PROFILES[profile], OURS[MODELS[profile]]
    assert profile_of_model(ours.name) is row
    assert ours.forced_tools is row.forced_tools
    assert set(ours.thinking) <= set(row.thinking_types)
    assert set(ours.efforts) <= set(row.efforts)
    assert ours.default_effort == row.default_effort
    assert ours.formats is row.formats
    assert ours.context_tokens <= row.context_tokens
    assert ours.output_tokens <= row.output_tokens
    assert ours.cache_minimum >= row.cache_least_tokens
    if profile != "sonnet-4-6":  # its characters a token are documented only as a comparison
        assert ours.characters_a_token == row.characters_per_token
