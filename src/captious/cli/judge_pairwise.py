"""captious judge-pairwise: which system's captions a model prefers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import Systems, matching_options, system_files
from captious.cli.library_options import FILE
from captious.cli.options import SectionedCommand, endpoint_option, judge_at, resampling_options
from captious.cli.outputs import Destination, output_options, warn
from captious.evaluation import judge_pairwise as judge_systems
from captious.metrics.shared.judges import PairwiseJudge


@click.command(cls=SectionedCommand)
@click.option(
    "--judge", required=True, metavar="MODEL|FILE", help="Model behind an endpoint: its name, or a TOML file."
)
@endpoint_option
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
@output_options()
@matching_options("match", "ids", "clean")
@resampling_options
@system_files(least=2, optional=True)
def judge_pairwise(
    systems: Systems,
    judge: str,
    endpoint: str | None,
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
    metric = PairwiseJudge(judge=judge_at(judge, endpoint), variant=variant, images=images, prompt=prompt)
    result = judge_systems(systems.sources, systems.references, metric, **options)
    destination.deliver(result.to_table())
    warn(result.warnings)
