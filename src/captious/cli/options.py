"""Options that several commands share, and what they do with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import RenderableType

from captious.errors import ParameterError
from captious.evaluation import selections
from captious.evaluation.resampling import MOST_RESAMPLES
from captious.evaluation.scoring import REFERENCES_AS
from captious.files import check_place
from captious.metrics.parse_sources import approximate
from captious.metrics.registry import COCO, Selection, available

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study

__all__ = [
    "check_outputs",
    "check_result_outputs",
    "choose",
    "data_option",
    "default_metrics",
    "deliver",
    "deliver_result",
    "judgment_options",
    "metric_option",
    "model_option",
    "output_options",
    "print_table",
    "references_option",
    "result_options",
    "run_options",
    "system_names",
    "vectors_option",
    "warn",
]

F = TypeVar("F", bound=Callable[..., Any])


def _all(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


#: What is computed.
metric_option = click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    help="A metric or output, with its variant and parameters: bleu, bleu-4, cider-d@paper, rouge-s:gap=2. May be "
    "repeated. Default: the COCO set.",
)

#: The model of metrics on contextual encoders.
model_option = click.option(
    "--model",
    metavar="MODEL",
    help="Encoder of bertscore, yi2020, mima, spurts, smurf or clipscore: a name on the Hugging Face hub, or a "
    "folder. Default: each metric's own.",
)

#: The vectors of metrics on word vectors.
vectors_option = click.option(
    "--vectors",
    metavar="NAME|FILE",
    help="Word vectors of wmd, mowe and wembsim: a name that 'captious vectors add' gave, or a file. Default: what "
    "CAPTIOUS_VECTORS names, or the only ones that were added.",
)

#: How references are given.
references_option = click.option(
    "--references-as",
    type=click.Choice(REFERENCES_AS),
    default="each",
    show_default=True,
    help="How metrics get the references of an image: each for itself, or all concatenated (cat).",
)

#: What is computed, and everything that it depends on.
run_options = _all(
    metric_option,
    click.option("--subset", is_flag=True, help="Score the images that both sides have."),
    click.option(
        "--idf", type=click.Path(path_type=Path), help="Document frequencies for CIDEr, made by 'captious idf build'."
    ),
    click.option(
        "--tokenizer",
        type=click.Choice(["ptb", "ptb-raw", "whitespace"]),
        help="How captions become tokens. Default: ptb.",
    ),
    click.option(
        "--images",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Folder of image files, named by image id, for clipscore and refclipscore.",
    ),
    model_option,
    click.option(
        "--parses",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Parses made elsewhere, for spice, spider and hwcm: .jsonl as 'captious parse' writes it, or .conllu.",
    ),
    vectors_option,
    references_option,
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

#: Where judgments of people lie.
data_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of judgment data. Default: the one that CAPTIOUS_DATA names.",
)

#: What judgments and studies take: the folder of data, and what their intervals and tests depend on.
judgment_options = _all(
    data_option,
    click.option(
        "--resamples",
        type=click.IntRange(1, MOST_RESAMPLES),
        default=1000,
        show_default=True,
        help="Number of resamples, and of permutations.",
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random numbers."),
)

#: Where judgments and studies go, and in which form; pass it all on to ``deliver_result``.
result_options = _all(
    click.option(
        "--format",
        "format_",
        type=click.Choice(["table", "json", "csv", "latex"]),
        default="table",
        show_default=True,
        help="What to print.",
    ),
    click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to a file, whole or not at all."),
    click.option(
        "--plot",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Draw the pictures of the result into this folder, as png.",
    ),
)


def choose(
    metrics: Sequence[str],
    *,
    idf: Path | None = None,
    tokenizer: str | None = None,
    images: Path | None = None,
    model: str | None = None,
    parses: Path | None = None,
    vectors: str | None = None,
) -> list[Selection]:
    """The metrics of a run; says on stderr what the default set leaves out and why."""
    asked = metrics or default_metrics()
    return selections(asked, idf=idf, tokenizer=tokenizer, images=images, model=model, parser=parses, vectors=vectors)


def default_metrics() -> list[str]:
    """The metrics of the COCO set that can be computed here; says on stderr which cannot and why."""
    metrics, left_out = available(COCO)
    if left_out:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        click.echo(f"left out: {reasons}", err=True)
    return metrics


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


def deliver_result(result: Judgment | Study, format_: str, output: Path | None, plot: Path | None) -> None:
    """Print or write a judgment or a study, and draw its pictures if a folder for them is given.

    Raises:
        OutputError, MissingExtraError: as ``check_result_outputs``, which is best asked before any work.
    """
    deliver(_result_content(result, format_), output)
    of_spice = [each for each in _signatures(result) if each.startswith(("spice", "spider"))]
    warn(approximate(" ".join(of_spice)))
    if plot is not None:
        from captious.report.plots import write_plots

        drawn = write_plots(plot, result)
        click.echo(f"drawn: {', '.join(map(str, drawn)) or 'nothing; there is no picture of this'}", err=True)


def _signatures(result: Judgment | Study) -> list[str]:
    from captious.judgment import Judgment

    if isinstance(result, Judgment):
        return [found.signature for verdict in result.values() for found in verdict.results.values()]
    return [*result.signatures.values()]


def _result_content(result: Judgment | Study, format_: str) -> str | RenderableType:
    from captious.judgment import Judgment
    from captious.report import files, judgment

    if isinstance(result, Judgment):
        if format_ == "table":
            return judgment.judgment_table(result)
        return {"json": files.judgment_json, "csv": files.judgment_csv, "latex": files.judgment_latex}[format_](result)
    if format_ == "table":
        return judgment.study_table(result)
    return {"json": files.study_json, "csv": files.study_csv, "latex": files.study_latex}[format_](result)


def check_result_outputs(output: Path | None, plot: Path | None, inputs: Sequence[Path | None] = ()) -> None:
    """Refuse, before any work is done, a file or a folder of pictures that cannot be written.

    Raises:
        OutputError, ParameterError: as ``check_outputs``.
        MissingExtraError: pictures without matplotlib.
    """
    check_outputs([output], inputs)
    if plot is not None:
        from captious.report.plots import check_plots

        check_plots(plot)


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
