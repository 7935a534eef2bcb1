"""captious judge-pairwise: which system's captions a model prefers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.library_options import FILE
from captious.cli.options import ids_option, match_option, no_references_option, resampling_options
from captious.cli.outputs import Destination, output_options, warn
from captious.errors import ParameterError
from captious.evaluation import judge_pairwise as judge_systems
from captious.evaluation.report import system_names
from captious.metrics.shared.judges import PairwiseJudge
from captious.report.formats import FORMATS


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="SYSTEM... REFERENCES")
@no_references_option
@click.option(
    "--judge", required=True, metavar="MODEL|FILE", help="Model behind an endpoint: its name, or a TOML file."
)
@click.option(
    "--see",
    "variant",
    type=click.Choice([*PairwiseJudge.variants]),
    default="references",
    show_default=True,
    help="What the model sees besides the captions.",
)
@click.option("--images", type=FILE, metavar="DIR", help="Folder of image files, named by image id.")
@click.option("--prompt", type=FILE, metavar="FILE", help="File with the prompt. Default: ours.")
@output_options(*FORMATS)
@match_option
@ids_option
@resampling_options
def judge_pairwise(
    files: tuple[Path, ...],
    no_references: bool,
    judge: str,
    variant: str,
    images: Path | None,
    prompt: Path | None,
    destination: Destination,
    **options: Any,
) -> None:
    """Ask a model which of two systems' captions it prefers.

    It judges every image and every pair of systems, in both orders; a verdict that changes with the order is a tie.
    Three or more systems get Bradley-Terry strengths, too.
    """
    candidates, references = (files, None) if no_references else (files[:-1], files[-1])
    if len(candidates) < 2:
        raise ParameterError("two systems are needed", hint="give two or more files of candidates, then references")
    metric = PairwiseJudge(judge=judge, variant=variant, images=images, prompt=prompt)
    systems = dict(zip(system_names(candidates), candidates, strict=True))
    result = judge_systems(systems, references, metric, **options)
    destination.deliver(result.to_table())
    warn(result.warnings)
