"""Output of commands: options, and printing or writing of results, warnings and pictures."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.core import ParameterSource

from captious.cli.library_options import FILE, Command, converted, option_of, options
from captious.drawing import as_text
from captious.errors import CaptionWarning, ParameterError, shown, shown_in
from captious.files import check_place, is_pipe_or_device, whole_file
from captious.report.formats import FORMATS, Presentation
from captious.report.terminal import plain_text, rich_text
from captious.resources.cache import is_first_time
from captious.tables import Displayed, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

#: The formats of extensions that are not the name of one.
_BY_EXTENSION = {"htm": "html", "txt": "table", "log": "table", "": "table"}
#: The parameters of ``Presentation``, which commands that print tables have.
PRESENTATION = ("percent", "transpose", "naming", "interval_style")
_WITH_SENTENCES = ("records", "document", "notes", "warnings")  # fields of tables
_NARROWEST = 24  # columns; on a terminal with less, lines run over
#: Formats whose numbers are unrounded and whose names are ours.
_FOR_PROGRAMS = ("json", "jsonl", "csv")


def format_option(*formats: str) -> Callable[[Command], Command]:
    """Add the option ``--format``, passed to the command as ``format_``; the first format is the default."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="Output format.",
    )


@dataclass(frozen=True)
class Destination:
    """The destination and format of the result of a command.

    Args:
        format: name of the format.
        file: the output file; None for standard output.
        plot: the folder of plots, if there is one.
        presentation: how tables show numbers and names.
        results: standard output, as what metrics of users print goes to standard error.
    """

    format: str
    file: Path | None = None
    plot: Path | None = None
    presentation: Presentation = field(default_factory=Presentation)
    results: TextIO = field(default_factory=lambda: sys.stdout)

    @property
    def is_for_reading(self) -> bool:
        """Whether a table is printed, so that hints may follow it."""
        return self.format == "table" and self.file is None

    def deliver(self, content: str | Table) -> None:
        """Print text or a table, or write it to the file atomically."""
        with redirect_stdout(self.results):
            self._deliver(content)

    def _deliver(self, content: str | Table) -> None:
        if isinstance(content, Table):
            content = _with_flags(self.presentation.apply(content))
            if self.is_for_reading:
                print_table(content)
                return
        rendered = content if isinstance(content, str) else FORMATS[self.format](content)
        if self.file is None:
            click.echo(rendered, nl=False)
        else:
            write_text(self.file, rendered)

    def deliver_result(self, result: Displayed) -> None:
        """Print or write a result with its warnings, and draw its pictures if there is a folder for them."""
        table = result.to_table()
        self.deliver(table)
        warn(table.warnings)
        if self.plot is not None:
            from captious.report.plots import write_plots

            drawn = write_plots(self.plot, result)
            click.echo(f"drawn: {', '.join(map(str, drawn))}" if drawn else "no plots for this result", err=True)


def output_options(
    *formats: str, pictures: bool = False, also: Sequence[str] = (), presentation: Sequence[str] = PRESENTATION
) -> Callable[[Command], Command]:
    """Add options for the output of a result: ``--format``, ``-o``, those of tables and, with pictures, ``--plot``.

    The command is called with a ``destination``. The extension of the output file selects the format unless one is
    requested; other extensions are refused.

    Args:
        formats: names of formats, the default first; all of tables by default.
        pictures: whether the result can be drawn.
        also: parameters of other output files.
        presentation: the parameters of ``Presentation`` that apply to this result.
    """
    shown = () if formats else presentation
    formats = formats or tuple(FORMATS)

    def destination(format_: str, output: Path | None, plot: Path | None = None, **of_table: Any) -> dict[str, Any]:
        source = click.get_current_context().get_parameter_source("format_")
        if source is not ParameterSource.COMMANDLINE and output is not None and not is_pipe_or_device(output):
            format_ = _format_of(output, formats)
        if format_ == "xlsx" and output is None:
            raise click.UsageError("a spreadsheet needs a file: -o FILE.xlsx")
        if plot is not None:
            from captious.report.plots import check_plots

            check_plots(plot)
        chosen = Presentation(**of_table)
        if chosen != Presentation() and format_ in _FOR_PROGRAMS:
            flags = [f"--{name.replace('_', '-')}" for name in shown]
            raise click.UsageError(
                f"{format_} has unrounded numbers and captious's metric names: choose another format, or "
                f"leave out {', '.join(flags)}"
            )
        if chosen.interval_style != Presentation.interval_style:
            if format_ != "tex":
                raise click.UsageError("--interval-style is for intervals in LaTeX: add --format tex")
            if not click.get_current_context().params.get("intervals", True):
                raise click.UsageError("there are no intervals for --interval-style: add --ci")
        made = Destination(format_, output, plot, chosen)
        click.get_current_context().with_resource(redirect_stdout(sys.stderr))
        return {"destination": made}

    what = "Output file, written atomically. Default: standard output."
    declarations = [
        format_option(*formats),
        click.option("-o", "--output", type=FILE, metavar="FILE", help=what),
        *[click.option("--plot", type=FILE, metavar="DIR", help="Save plots of the result in this folder, as png.")]
        * pictures,
        *(option_of(Presentation, name) for name in shown),
    ]
    return options(written("output", *also), converted(destination, *declarations))


def _format_of(output: Path, formats: Sequence[str]) -> str:
    """Return the format for the extension of a file."""
    suffix = output.suffix.lower().removeprefix(".")
    named = _BY_EXTENSION.get(suffix, suffix)
    if named in formats:
        return named
    if named == "table":  # of a command whose default is another text
        return formats[0]
    is_known = named in (*FORMATS, "jsonl")
    implied = f"the format {named}, which this command cannot write" if is_known else "no format"
    raise click.UsageError(
        f"{output.name} implies {implied}; choose --format {'|'.join(formats)}, or another extension"
    )


def written(*names: str) -> Callable[[Command], Command]:
    """Refuse, before any work is done, outputs that cannot be written, that are the same file, or that are an input.

    With ``--shards``, outputs are folders, which are checked elsewhere.

    Args:
        names: the parameters that hold paths of output files; all others that hold paths are inputs.
    """

    def checked() -> dict[str, Any]:
        every = click.get_current_context().params
        if not every.get("shards"):
            _check([every.get(name) for name in names], _inputs(every, names))
        return {}

    return converted(checked)


def _inputs(parameters: dict[str, Any], outputs: Sequence[str]) -> list[Path]:
    """Return the input files that the parameters of a call show."""
    paths: list[Path] = []
    for name, value in parameters.items():
        if name in outputs or name in ("output", "plot"):
            continue
        for item in value if isinstance(value, list | tuple) else (value,):
            if isinstance(item, os.PathLike):
                paths.append(Path(item))
            elif isinstance(item, str):  # text may name a file: smurf:constants=FILE, mine.jsonl@spearman, FILE:COLUMN
                values = (piece.partition("=")[2] for piece in item.partition(":")[2].split(","))
                texts = [item, item.rpartition("@")[0], item.rpartition(":")[0], *values]
                paths += [Path(text) for text in texts if Path(text).suffix and os.path.exists(text)]
    return paths


def _check(outputs: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    uses = {os.path.realpath(path): "is also an input" for path in inputs}
    for output in outputs:
        if output is None:
            continue
        target = check_place(output)
        if is_pipe_or_device(target):
            continue
        if str(target) in uses:
            raise ParameterError(
                f"{output} {uses[str(target)]}", where=str(output), hint="give each output its own file"
            )
        uses[str(target)] = "is written twice"


def warn(messages: Sequence[str], *, said: str | None = None) -> None:
    """Print warnings on stderr, each once, and advice only if no command has printed it before.

    Args:
        said: the kind of warnings that the result has said itself.
    """
    for message in dict.fromkeys(messages):
        text = shown(message, "command line")
        if isinstance(message, CaptionWarning) and (
            message.kind == said or not (message.repeated or is_first_time(text))
        ):
            continue
        click.echo(f"{click.style('warning:', fg='yellow')} {text}", err=True)


def _with_flags(table: Table) -> Table:
    """Return a table whose sentences name options as the command line does."""
    return replace(
        table,
        **{name: shown_in(getattr(table, name), "command line") for name in _WITH_SENTENCES},
        following=[_with_flags(part) for part in table.following],
    )


def print_table(table: Table | RenderableType) -> None:
    """Print a table, with color on a terminal and plain elsewhere. Long lines are not truncated."""
    if isinstance(table, Table) and not _may_have_color():
        click.echo(plain_text(table), nl=False)
        return
    from rich.console import Console

    rendered = rich_text(table) if isinstance(table, Table) else table
    click.echo(as_text(rendered, color=Console().is_terminal), nl=False)


def print_folded(text: RenderableType) -> None:
    """Print lines that fit the width of a terminal; elsewhere, they are as long as they need to be."""
    from rich.console import Console

    terminal = Console()
    fold = {"width": max(terminal.width, _NARROWEST)} if terminal.is_terminal else {}
    click.echo(as_text(text, color=terminal.is_terminal, **fold).rstrip("\n"))


def print_rows(rows: Iterable[tuple[str, ...]]) -> None:
    """Print rows of texts in columns, without a heading."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*map(Text, row))  # Text, because [extra] in a string would be markup
    print_table(table)


def _may_have_color() -> bool:
    """Return whether rich, which reads these variables, might treat standard output as a terminal."""
    return sys.stdout.isatty() or not {"FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}.isdisjoint(os.environ)


def write_text(path: Path, content: str | bytes) -> None:
    """Write a file atomically."""
    with whole_file(path, "w" if isinstance(content, str) else "wb") as file:
        file.write(content)
