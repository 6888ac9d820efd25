"""Intake: the bytes and headers of a request become a checked request, or an ApiError."""

from collections.abc import Mapping
from typing import Any

import msgspec

from actors.model_server.api_error import ApiError
from actors.model_server.api_keys import check_headers
from actors.model_server.checks.limits import LARGEST_BODY
from actors.model_server.checks.validation import fault
from actors.model_server.conversation import Body
from actors.model_server.format_requests import for_rules
from actors.model_server.offline.request import Asked
from actors.model_server.profiles import Profile, profile_of_model


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """A request that the model takes: as it was sent, as the rules see it, and the profile of its model."""

    body: dict[str, Any]
    asked: Asked
    profile: Profile


def read_body(raw: bytes) -> dict[str, Any]:
    """The JSON object of a request."""
    if len(raw) > LARGEST_BODY:
        raise ApiError(413, "Request exceeds the maximum size")
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(400, str(error) or type(error).__name__) from error


def admit(raw: bytes, headers: Mapping[str, str], forced: Profile | None, *, counting: bool = False) -> Incoming:
    """The request after every check that its model makes: that of the forced profile, else the one that it names."""
    if forced is None or forced.checks_requests:
        check_headers(headers)
    body = read_body(raw)
    profile = forced or known_profile(_model_of(body))
    betas = [beta.strip() for beta in headers.get("anthropic-beta", "").split(",")]
    if found := fault(body, profile, counting=counting, betas=betas):
        raise ApiError(400, found)
    return Incoming(body=body, asked=_for_rules(body), profile=profile)


def known_profile(model: str) -> Profile:
    """The row of a model, or the provider's answer to a name that it does not know."""
    found = profile_of_model(model)
    if found is None:
        raise ApiError(404, f"model: {model}")
    return found


def _model_of(body: Body) -> str:
    if "model" not in body:
        raise ApiError(400, "model: Field required")
    name = body["model"]
    if not isinstance(name, str):
        raise ApiError(400, "model: Input should be a valid string")
    if not name:
        raise ApiError(400, "model: String should have at least 1 character")
    return name


def _for_rules(body: Body) -> Asked:
    try:
        return for_rules(body)
    except (msgspec.ValidationError, KeyError, TypeError) as error:
        raise ApiError(400, str(error)) from error
