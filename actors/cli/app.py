"""The commands of `handoff`, by name; a command's module is imported when it is called, so that help is quick."""

import difflib
from importlib import import_module

import click

from actors import __version__

SECTIONS = {
    "Ask": {
        "ask": ("actors.cli.ask", "Plan, work, answer; starts a bus and a team if none is running."),
        "plan": ("actors.cli.plan", "The plan as JSON, nothing run."),
    },
    "Run actors": {
        "up": ("actors.cli.up", "Bus, supervisor and workers as processes, restarted when they die."),
        "supervisor": ("actors.cli.actor", "One supervisor, in the foreground."),
        "worker": ("actors.cli.actor", "One worker or several, in the foreground."),
        "inbox": ("actors.cli.inbox", "What waits for a person; with --as, be that person."),
        "model": ("actors.cli.actor", "The offline model, in the foreground."),
        "web": ("actors.cli.web", "Runs and their traces in a browser."),
        "trust": ("actors.cli.trust", "Let the handoff.toml of this folder set addresses, paths and teams."),
        "init": ("actors.cli.init", "Write a small team of your own that works at once."),
    },
    "Look": {
        "runs": ("actors.cli.runs", "The newest runs, and what became of them."),
        "show": ("actors.cli.show", "One run: request, plan, tasks, answer."),
        "trace": ("actors.cli.trace", "One run as one trace: tree, json, otlp for Jaeger, or a page."),
        "approve": ("actors.cli.approve", "Say yes or no to a plan or a tool that waits."),
        "cancel": ("actors.cli.cancel", "End a run."),
        "workers": ("actors.cli.workers", "Who is alive, how busy, and who is trusted."),
        "teams": ("actors.cli.teams", "The teams there are; one of them with requests to try."),
        "dead": ("actors.cli.dead", "Messages that were refused: list, show, put back."),
        "prompts": ("actors.cli.prompts", "What the planner and the other roles send to their models."),
        "health": ("actors.cli.health", "Whether the actor of this container is alive."),
        "doctor": ("actors.cli.doctor", "Whether everything is in place, and what to do."),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class Commands(click.Group):
    """A group that knows its commands by name and one line of help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        return getattr(import_module(COMMANDS[cmd_name][0]), cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; one that does not exist is answered with those that look like it."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=2)
            hint = f" Did you mean {' or '.join(near)}?" if near else " See `handoff --help`."
            raise click.UsageError(f"There is no command {name[:40]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands in their sections."""
        del ctx
        widest = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, (_, text) in commands.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="handoff", message="%(prog)s %(version)s")
def handoff() -> None:
    """Multi-agent work that is planned, durable and distributed, over NATS.

    Begin with:  handoff ask "Which region grew fastest, and why?"

    Exit codes: 0 complete, 1 failed, 2 usage, 3 bus unreachable, 4 partial, 5 cancelled, 130 interrupted.
    """
