"""`handoff prompts`: what the roles of a supervisor would send to their models."""

from collections.abc import Callable

import click
import msgspec

from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import write, write_json
from actors.clock import SystemClock
from actors.model.port import Call, Ready, Reply
from actors.supervisor.pricing import Pricing, nobody_knows
from actors.supervisor.roles.example import example
from actors.supervisor.roles.registry import make_roles
from actors.supervisor.roles.role import Preview, RoleKit


@click.command()
@click.argument("role", required=False)
@json_option
@placed
def prompts(place: Place, role: str | None, *, as_json: bool) -> int:
    """Show what the supervisor's roles send: system prompt, schema of the answer, and an example of a user message.

    ROLE is the name of one of them, such as planner. No model is asked.
    """
    settings = place.settings()
    kit = RoleKit(model=_NoModel(), settings=settings, pricing=Pricing(nobody_knows, settings))
    situation = example(SystemClock().now())
    previews = {one.trace: one for one in (each.preview(situation) for each in make_roles(kit).all)}
    shown = [one for one in previews.values() if role in (None, one.role, one.trace)]
    if not shown:
        names = ", ".join(dict.fromkeys(one.role for one in previews.values()))
        raise click.UsageError(f"There is no role {role!r}. Roles: {names}.")
    if as_json:
        write_json(shown)
    else:
        for one in shown:
            _tell(one)
    return 0


def _tell(preview: Preview) -> None:
    effort = preview.effort or "the model's default"
    write(f"# {preview.trace} (prompt {preview.role}.md, version {preview.version})")
    write(f"model {preview.model}, effort {effort}\n")
    write(f"## System prompt\n\n{preview.system}\n")
    if preview.schema is not None:
        schema = msgspec.json.format(msgspec.json.encode(preview.schema), indent=2).decode()
        write(f"## Schema of the answer\n\n{schema}\n")
    write(f"## User message (example)\n\n{preview.user}\n")


class _NoModel:
    """A model that is never asked."""

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: Ready | None = None) -> Reply:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is open."""
