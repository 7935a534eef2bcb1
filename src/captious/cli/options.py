"""Options that several commands share, and what they do with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import RenderableType

from captious.errors import ParameterError
from captious.evaluation import selections
from captious.files import check_place
from captious.metrics.registry import COCO, Selection, available

__all__ = ["check_outputs", "choose", "deliver", "output_options", "print_table", "run_options", "system_names", "warn"]

F = TypeVar("F", bound=Callable[..., Any])


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


#: What is computed, and how.
run_options = _all(
    click.option(
        "-m",
        "--metric",
        "metrics",
        multiple=True,
        help="A metric, output or variant: bleu, bleu-4, cider-d@paper. May be repeated. Default: the COCO set.",
    ),
    click.option("--subset", is_flag=True, help="Score the images that both sides have."),
    click.option(
        "--idf", type=click.Path(path_type=Path), help="Document frequencies for CIDEr, made by 'captious idf build'."
    ),
    click.option(
        "--tokenizer",
        type=click.Choice(["ptb", "ptb-raw", "whitespace"]),
        help="How captions become tokens. Default: ptb.",
    ),
)

#: Where results go.
output_options = _all(
    click.option(
        "--format",
        "format_",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        show_default=True,
        help="What to print.",
    ),
    click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to a file, whole or not at all."),
)


def choose(metrics: Sequence[str], *, idf: Path | None, tokenizer: str | None) -> list[Selection]:
    """The metrics of a run; says on stderr what the default set leaves out and why."""
    if not metrics:
        metrics, left_out = available(COCO)
        if left_out:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
            click.echo(f"left out: {reasons}", err=True)
    return selections(metrics, idf=idf, tokenizer=tokenizer)


def system_names(files: Sequence[Path]) -> list[str]:
    """A name for each system: the file's, without its extensions; the whole path where names would be the same.

    Raises:
        ParameterError: a file is there twice.
    """
    stems = [file.name.removesuffix(".gz").rsplit(".", 1)[0] or file.name for file in files]
    names = [stem if stems.count(stem) == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ParameterError(f"{repeated[0]} is given twice", help="give every system once")
    return names


def warn(messages: Sequence[str]) -> None:
    """Say on stderr what a reader of the results should know."""
    for message in dict.fromkeys(messages):
        click.echo(f"{click.style('warning:', fg='yellow')} {message}", err=True)


def print_table(table: RenderableType) -> None:
    """Print a table: with colour to a terminal, plain to anything else. Nothing is cut; long lines run over."""
    from rich.console import Console

    from captious.report.tables import as_text

    click.echo(as_text(table, color=Console().is_terminal), nl=False)


def deliver(content: str | RenderableType, output: Path | None) -> None:
    """Text or a table to stdout, or to a file that appears whole or not at all."""
    from captious.report.files import write_text
    from captious.report.tables import as_text

    if output is not None:
        write_text(output, content if isinstance(content, str) else as_text(content))
    elif isinstance(content, str):
        click.echo(content, nl=False)
    else:
        print_table(content)


def check_outputs(outputs: Sequence[Path | None], inputs: Sequence[Path | None]) -> None:
    """Refuse, before any work is done, outputs that cannot be written, that are one file, or that are an input.

    Raises:
        OutputError, ParameterError: which, and why.
    """
    taken = {os.path.realpath(path): "is read as well" for path in inputs if path is not None}
    for output in outputs:
        if output is None:
            continue
        target = check_place(output)
        if target.exists() and not target.is_file():  # a pipe or device takes any number of things
            continue
        if str(target) in taken:
            raise ParameterError(
                f"{output} {taken[str(target)]}", where=str(output), help="give every output a file of its own"
            )
        taken[str(target)] = "is written twice"
