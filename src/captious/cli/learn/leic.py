"""captious learn leic: score a system by LEIC's two-fold protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import matching_options, reads_captions
from captious.cli.learn.critique import critique_options
from captious.cli.library_options import COUNT, FILE, option_of
from captious.cli.options import resamples_option
from captious.cli.outputs import Destination, output_options
from captious.learned.training.critiques import two_folds
from captious.report.formats import FORMATS


@click.command()
@click.argument("candidates", type=FILE)
@click.argument("references", type=FILE)
@option_of(two_folds, "all_references")
@option_of(two_folds, "trainings", COUNT)
@option_of(two_folds, "last_epochs", COUNT)
@matching_options("match", "ids")
@reads_captions("candidates", "references")
@critique_options
@resamples_option
@output_options(*FORMATS, presentation=("transpose", "naming"))
def leic(candidates: Path, references: Path, destination: Destination, **options: Any) -> None:
    """Score a system by LEIC, in two folds.

    A critique is trained on half of the images of CANDIDATES and REFERENCES and scores the other half, and vice
    versa. The score is the mean probability that a person wrote the captions; human captions are scored, too.
    The intervals are over images: they do not show how much the score depends on the training. Training needs torch.
    """
    from captious.judgment.studies.critiques import two_fold_study  # imports all studies

    destination.deliver_result(two_fold_study(candidates, references, **options))
