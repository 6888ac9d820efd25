"""`handoff trace`: one run as one trace, from its own record; no collector is needed."""

import sys
from pathlib import Path
from typing import Literal

import click
import msgspec

from actors.bus.jetstream import JetStreamBus
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.terminal import clean, console, one_line, tell, write
from actors.cli.tree import Line, Node, lines, took, tree
from actors.record import read_whole_run
from actors.run_index import find_run
from observability.otlp_json import otlp_json
from observability.redaction import redacted
from observability.run_view import RunView, view_of
from observability.trace_json import trace_of
from observability.wording import count, seconds, spent
from protocol.errors import InvalidError

Format = Literal["tree", "json", "otlp", "html"]
FORMATS = ("tree", "json", "otlp", "html")
BAR = 20
STYLES = {"": "", "bad": "red", "odd": "yellow", "dim": "dim"}


@click.command()
@click.argument("run")
@click.option("--format", "shape", type=click.Choice(FORMATS), help="What to make; tree without it.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write it to this file.")
@click.option(
    "--content/--no-content", default=None, help="With what was asked and said; html has it without being told."
)
@click.option("--full", is_flag=True, help="tree: every call, however many there are.")
@json_option
@placed
def trace(place: Place, run: str, **wanted: object) -> int:
    """RUN as one trace: its id, the first 4 digits or more, or `last`. Also of a run that goes on or was cut off.

    tree is for the terminal. json is every step with its times, its cost and who did it. otlp is a file that Jaeger's
    page opens (Search, Upload). html is one page that opens without a network.
    """
    options = Options(**wanted, default=place.reading_settings().trace_content)  # pyright: ignore[reportArgumentType]
    if options.as_json and options.shape not in (None, "json"):
        raise click.UsageError(f"--json and --format {options.shape} are two forms: say one of them.")
    _check_file(options.output)
    if options.made == "html" and options.output is None and sys.stdout.isatty():
        raise InvalidError(["a page is for a browser: give it a file, such as `-o trace.html`"])

    async def work(bus: JetStreamBus) -> int:
        found = await find_run(bus, run)
        view = view_of(found, await read_whole_run(bus, found), content=options.told)
        if view is None:
            raise InvalidError([f"nobody has begun with run {found} yet: there is nothing to trace"])
        _give(view, options)
        return 0

    return look(place, work)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for. `default` is what the setting `trace_content` says of content."""

    shape: Format | None
    output: Path | None
    content: bool | None
    full: bool
    as_json: bool
    default: bool

    @property
    def made(self) -> Format:
        """The form that is meant."""
        return "json" if self.as_json else self.shape or "tree"

    @property
    def told(self) -> bool:
        """Whether what was asked and said is in it."""
        return (self.made == "html" or self.default) if self.content is None else self.content


def _check_file(output: Path | None) -> None:
    """InvalidError if nothing can be written there, said before anything is read."""
    if output is not None and not output.parent.is_dir():
        raise InvalidError([f"{output}: there is no folder {str(output.parent)!r}: make it, or name another file"])
    if output is not None and output.is_dir():
        raise InvalidError([f"{output} is a folder: name a file"])


def _give(view: RunView, options: Options) -> None:
    if options.made == "tree" and options.output is None:
        draw(view, full=options.full)
        return
    made = _made(view, options)
    if options.output is None:
        write(made)
        return
    data = made.encode(errors="replace")
    options.output.write_bytes(data)
    tell(f"wrote {options.output} ({count(len(data), 'byte')})")


def _made(view: RunView, options: Options) -> str:
    match options.made:
        case "json":
            return msgspec.json.format(msgspec.json.encode(trace_of(view, content=options.told)), indent=2).decode()
        case "otlp":
            return otlp_json(view.spans).decode()
        case "html":
            from observability.page import page_of

            return page_of(view, content=options.told)
        case "tree":
            return "\n".join(_head(view) + [_text(line, view) for line in lines(tree(view, full=options.full))])


def draw(view: RunView, *, full: bool) -> None:
    """The tree on standard output; on a terminal, each line on one line and what went wrong in red."""
    drawn = list(lines(top := tree(view, full=full)))
    for text in _head(view):
        write(text)
    if not sys.stdout.isatty():
        for line in drawn:
            write(_text(line, view))
    else:
        _paint(drawn, view)
    if top.folded:
        tell("calls of tasks that went well are counted, not drawn: --full draws them")


def _paint(drawn: list[Line], view: RunView) -> None:
    from rich.text import Text

    screen = console(sys.stdout)
    for line in drawn:
        text = Text(cut(_text(line, view), screen.width), style=STYLES[line.node.style])
        screen.print(text, no_wrap=True)


def cut(text: str, width: int) -> str:
    """The text without what a terminal would obey, cut where the screen ends."""
    shown = clean(text)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def _head(view: RunView) -> list[str]:
    told = [f"run      {view.record.run}", f"status   {view.status} after {seconds(view.client.seconds)}"]
    if text := view.record.request.text:
        told.append(f"request  {one_line(redacted(text), 200)}")
    return [*told, f"spent    {spent(view.usage)}", "", f"{'at':>8} {'took':>7} {'':{BAR + 2}}"]


def _text(line: Line, view: RunView) -> str:
    node = line.node
    at = seconds(max(0.0, (node.start_ns - view.client.start_ns) / 1e9))
    words = one_line(node.text) + (f"  ({node.cost})" if node.cost else "")
    return f"{at:>8} {took(node):>7} ▏{bar(node, view)}▏{line.lead}{words}"


def bar(node: Node, view: RunView) -> str:
    """When it was, between the beginning and the end of the run."""
    span = max(1, view.client.end_ns - view.client.start_ns)
    first = min(BAR - 1, max(0, (node.start_ns - view.client.start_ns) * BAR // span))
    last = min(BAR, max(first + 1, -((view.client.start_ns - node.end_ns) * BAR // span)))
    return " " * first + ("█" * (last - first) if took(node) else "·").ljust(BAR - first)
