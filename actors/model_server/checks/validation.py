"""Validation: all checks of a request, in the order in which the provider is known to make them."""

from collections.abc import Collection, Iterator

from actors.model_server.checks import binding, caching, fields, limits, messages, schemas, thinking, tools
from actors.model_server.conversation import Body
from actors.model_server.profiles import Profile


def fault(body: Body, profile: Profile, *, counting: bool = False, betas: Collection[str] = ()) -> str | None:
    """The first thing that the model refuses about a request with status 400; None if it takes the request."""
    if not profile.checks_requests:
        return None
    return next(_faults(body, profile, counting, betas), None)


def _faults(body: Body, profile: Profile, counting: bool, betas: Collection[str]) -> Iterator[str]:
    yield from fields.faults(body, counting=counting, betas=betas)
    yield from limits.faults(body, profile, counting=counting)
    yield from thinking.faults(body, profile, betas)
    yield from tools.faults(body, profile)
    # The limits hold for the format and all strict tools together.
    count = schemas.SchemaCount()
    yield from schemas.format_faults(body, count)
    yield from tools.strict_faults(body, count)
    yield from count.faults()
    yield from caching.faults(body)
    yield from messages.faults(body, profile)
    yield from binding.faults(body, profile)
