"""captious judge-pairwise: which system's captions a model prefers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import Systems, shared, system_files
from captious.cli.library_options import option
from captious.cli.options import SectionedCommand, endpoint_option, judge_at
from captious.cli.outputs import Destination, output_options, warn
from captious.evaluation import judge_pairwise as judge_systems
from captious.metrics.shared.judges import PairwiseJudge


@click.command(cls=SectionedCommand)
@option("judge", metavar="MODEL|FILE")
@endpoint_option
@option("variant", click.Choice([*PairwiseJudge.variants]), flags=("--see",))
@option("images", metavar="DIR")
@option("prompt")
@output_options()
@shared("match", "ids", "clean", "resamples", "seed")
@system_files(least=2, optional=True)
def judge_pairwise(
    systems: Systems,
    judge: str,
    endpoint: str | None,
    destination: Destination,
    variant: str = "references",
    images: Path | None = None,
    prompt: Path | None = None,
    **options: Any,
) -> None:
    """Ask a model which of two systems' captions it prefers.

    It judges every image and every pair of systems, in both orders; a verdict that changes with the order is a tie.
    Three or more systems get Bradley-Terry strengths, too.

    Args:
        judge: model behind an endpoint: its name, or a TOML file.
        variant: what the model sees besides the captions.
        images: folder of image files, named by image id.
        prompt: file with the prompt. Default: ours.
    """
    metric = PairwiseJudge(judge=judge_at(judge, endpoint), variant=variant, images=images, prompt=prompt)
    result = judge_systems(systems.sources, systems.references, metric, **options)
    destination.deliver(result.to_table())
    warn(result.warnings)
