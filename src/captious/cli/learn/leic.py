"""captious learn leic: score a system by LEIC's protocol of two folds."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from captious.cli.caption_files import reads_captions
from captious.cli.learn.training_options import captions_by_image, critique_options
from captious.cli.library_options import FILE, option_of
from captious.cli.options import resamples_option, subset_option
from captious.cli.outputs import deliver_result, output_options
from captious.data import read_captions
from captious.evaluation.caption_warnings import few_images
from captious.evaluation.resampling import bootstrap_sums, interval
from captious.evaluation.system_names import system_names
from captious.judgment import Study
from captious.judgment.study_sources import checksums
from captious.learned.critique.critique_recipes import CritiqueRecipe
from captious.learned.critique.two_folds import two_folds
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures
from captious.report.formats import FORMATS
from captious.report.presentation import Presentation


@click.command()
@click.argument("candidates", type=FILE)
@click.argument("references", type=FILE)
@option_of(two_folds, "all_references")
@subset_option
@reads_captions("candidates", "references")
@critique_options
@resamples_option
@output_options(*FORMATS, presentation=("transpose", "names"))
def leic(
    candidates: Path,
    references: Path,
    all_references: bool,
    subset: bool,
    recipe: CritiqueRecipe,
    images: ImageFeatures | None,
    vectors: WordVectors | None,
    sampled: tuple[Path, ...],
    resamples: int,
    output: Path | None,
    format_: str,
    presentation: Presentation,
) -> None:
    """Score a system by LEIC, in two folds.

    A critique is trained on half of the images of CANDIDATES and REFERENCES and scores the other half, and vice
    versa. The score is the mean probability that a person wrote the captions; human captions are scored, too.
    The intervals are over images: they do not show how much the score depends on the training. Training needs torch.
    """
    captions = read_captions(candidates, references, subset=subset)
    folds = two_folds(
        captions,
        recipe,
        sampled=captions_by_image(sampled, captions.references),
        images=images,
        vectors=vectors,
        all_references=all_references,
    )
    records = [
        {"captions": name, **_row(scores, folds.folds, resamples, recipe.seed)}
        for name, scores in ((system_names([candidates])[0], folds.system), ("human", folds.human))
    ]
    trained = folds.critiques[0].critique.recipe.to_dict()
    settings = {
        "recipe": trained.pop("name"),
        **trained,
        "context": "all references" if all_references else "one reference",
        **({} if images is None else {"image_features": images.label}),
        **({} if vectors is None else {"vectors": vectors.label}),
        "resamples": resamples,
        "training_accuracy": [round(course.accuracies[-1], 4) for course in folds.courses],
    }
    interrupted = [
        f"training was interrupted in fold {number}; scores are from its last complete epoch."
        for number, course in enumerate(folds.courses, 1)
        if course.interrupted
    ]
    study = Study(
        "leic",
        f"LEIC in two folds: {len(captions):,} images, recipe {settings['recipe']}, images: {settings['images']}",
        ("captions", "score", "ci95_low", "ci95_high", "fold_1", "fold_2"),
        records,
        data=checksums(candidates, references, *sampled),
        settings=settings,
        warnings=[*interrupted, *few_images(len(captions))],
    )
    deliver_result(study, format_, output, None, presentation)


def _row(scores: NDArray[np.float64], folds: NDArray[np.int64], resamples: int, seed: int) -> dict[str, float]:
    sums = bootstrap_sums(scores[:, None], resamples=resamples, seed=seed)
    low, high = interval(sums[:, 0] / len(scores), 0.95)
    of_folds = {f"fold_{fold + 1}": float(scores[folds == fold].mean()) for fold in (0, 1)}
    return {"score": float(scores.mean()), "ci95_low": float(low), "ci95_high": float(high), **of_folds}
