"""captious smurf: constants that SMURF standardises by, and its analysis of systems."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.options import check_outputs, check_result_outputs, deliver_result, result_options, system_names
from captious.data import load, read_references
from captious.judgment.studies.smurf_analysis import hold_out, smurf_analysis
from captious.metrics.shared.smurf_constants import PUBLISHED, SmurfConstants
from captious.metrics.smurf import THRESHOLD, Smurf
from captious.progress import Progress

__all__ = ["smurf"]

_mima_model = click.option(
    "--mima-model",
    metavar="MODEL",
    help=f"A name on the hub or a folder. Default: {PUBLISHED.mima_model}.",
)
_spurts_model = click.option(
    "--spurts-model",
    metavar="MODEL",
    help=f"A name on the hub or a folder. Default: {PUBLISHED.spurts_model}.",
)
_human = click.option(
    "--human",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Captions that people wrote, one per image, and that are not among REFERENCES. Default: one reference of each "
    "image is held out.",
)
_subset = click.option("--subset", is_flag=True, help="Score the images that both sides have.")
_seed = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random numbers.")


@click.group(subcommand_metavar="COMMAND")
def smurf() -> None:
    """SMURF: constants that it standardises by, and its analysis of systems."""


@smurf.command(short_help="Constants for other models.")
@click.argument("references", type=click.Path(path_type=Path))
@_human
@_mima_model
@_spurts_model
@click.option("--name", help="What signatures call the constants. Default: the name of the file of references.")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), help="The file to write, such as coco.smurf.json."
)
@_subset
@_seed
def calibrate(
    references: Path,
    human: Path | None,
    mima_model: str | None,
    spurts_model: str | None,
    name: str | None,
    output: Path,
    subset: bool,
    seed: int,
) -> None:
    """Compute means and standard deviations of SPARCS, SPURTS and MIMA over captions that people wrote.

    REFERENCES are human captions, several per image. SMURF with other models than the published ones needs constants
    computed with these models: 'captious smurf analyse' takes them with --constants, and 'captious score' with
    -m smurf:constants=FILE.
    """
    check_outputs([output], [references, human])
    with Progress(2) as progress:
        progress.step(f"reading {references.name}")
        table = read_references(references)
        if human is None:
            captions, left_out = hold_out(table, seed)
            what = f"one reference of each image of {references.name}, the others as its references"
        else:
            captions, left_out = load(human, table, subset=subset), 0
            what = f"{human.name}, beside {references.name}"
        progress.step("scoring")
        source = f"{what}; {len(captions):,} images"
        constants = Smurf(mima_model, spurts_model).calibrate(captions, name or system_names([references])[0], source)
    constants.save(output)
    click.echo(f"{output}: {constants.label}, {source}", err=True)
    if left_out:
        click.echo(f"left out: {left_out:,} images with a single reference", err=True)


@smurf.command(short_help="Where systems stand beside people.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SYSTEM... REFERENCES")
@_human
@_mima_model
@_spurts_model
@click.option(
    "--constants",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What 'captious smurf calibrate' wrote. Default: the published constants.",
)
@click.option("--threshold", type=float, default=THRESHOLD, show_default=True, help="Where outliers begin.")
@_subset
@_seed
@result_options
def analyse(
    files: tuple[Path, ...],
    human: Path | None,
    mima_model: str | None,
    spurts_model: str | None,
    constants: Path | None,
    threshold: float,
    subset: bool,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
) -> None:
    """Where do SYSTEMs stand beside people? Their captions' semantics and style, each system with its ellipse, its
    overlap with the people's, its most central caption, and what its grammar costs."""
    if len(files) < 2:
        raise click.UsageError("give at least one file of captions and, last, the file of references")
    *candidates, references = files
    check_result_outputs(output, plot, [*files, human, constants])
    loaded = PUBLISHED if constants is None else SmurfConstants.load(constants)
    metric = Smurf(mima_model, spurts_model, constants=loaded, threshold=threshold)
    systems = dict(zip(system_names(candidates), candidates, strict=True))
    with Progress(len(systems) + 1) as progress:
        result = smurf_analysis(
            systems, references, metric, human=human, subset=subset, seed=seed, on_step=progress.step
        )
    deliver_result(result, format_, output, plot)
