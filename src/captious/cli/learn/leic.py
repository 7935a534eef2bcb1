"""captious learn leic: score a system by LEIC's protocol of two folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from captious.cli.learn.critique_options import Given, captions_by_image, critique_options
from captious.cli.options import subset_option, system_names
from captious.cli.outputs import deliver_result, output_options
from captious.data import load
from captious.evaluation.caption_warnings import few_images
from captious.evaluation.resampling import MOST_RESAMPLES, bootstrap_sums, interval
from captious.judgment import Study
from captious.judgment.study_sources import checksums
from captious.learned.critique.recipes import CritiqueRecipe

__all__ = ["leic"]


@click.command()
@click.argument("candidates", type=click.Path(path_type=Path))
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "--all-references",
    is_flag=True,
    help="Average over all references of an image, as in the paper, instead of one at random.",
)
@subset_option
@critique_options
@click.option(
    "--resamples",
    type=click.IntRange(1, MOST_RESAMPLES),
    default=1000,
    show_default=True,
    help="Number of bootstrap resamples.",
)
@output_options("table", "json", "csv", "latex")
def leic(
    candidates: Path,
    references: Path,
    all_references: bool,
    subset: bool,
    given: Given,
    resamples: int,
    **where: Any,
) -> None:
    """Score a system by LEIC, in two folds.

    A critique is trained on half of the images of CANDIDATES and REFERENCES and scores the other half, and vice
    versa. The score is the mean probability that a person wrote the captions; human captions are scored, too.
    The intervals are over images: they do not show how much the score depends on the training. Training needs torch.
    """
    from captious.learned.critique.two_folds import two_folds

    captions = load(candidates, references, subset=subset)
    found = two_folds(
        captions,
        given.recipe,
        sampled=captions_by_image(given.sampled, captions.references),
        images=given.images,
        vectors=given.vectors,
        all_references=all_references,
    )
    records = [
        {"captions": name, **_row(scores, found.folds, resamples, given.recipe.seed)}
        for name, scores in ((system_names([candidates])[0], found.system), ("human", found.human))
    ]
    trained = found.critiques[0].critique.recipe
    study = Study(
        "leic",
        f"LEIC in two folds: {len(captions):,} images, recipe {trained.name}, images: {trained.images}",
        ("captions", "score", "ci95_low", "ci95_high", "fold_1", "fold_2"),
        records,
        data=checksums(candidates, references, *given.sampled),
        settings=_settings(trained, given, all_references)
        | {"resamples": resamples}
        | {"training_accuracy": [round(course.accuracies[-1], 4) for course in found.courses]},
        warnings=[*_interrupted(found.courses), *few_images(len(captions))],
    )
    deliver_result(study, plot=None, **where)


def _settings(recipe: CritiqueRecipe, given: Given, all_references: bool) -> dict[str, Any]:
    """What the scores depend on besides the captions."""
    found = {key: value for key, value in recipe.to_dict().items() if key != "name"}
    found = {"recipe": recipe.name, **found, "context": "all references" if all_references else "one reference"}
    if given.images is not None:
        found["image_features"] = given.images.label
    if given.vectors is not None:
        found["vectors"] = given.vectors.label
    return found


def _row(scores: NDArray[np.float64], folds: NDArray[np.int64], resamples: int, seed: int) -> dict[str, float]:
    sums = bootstrap_sums(scores[:, None], resamples=resamples, seed=seed)
    low, high = interval(sums[:, 0] / len(scores), 0.95)
    of_folds = {f"fold_{fold + 1}": float(scores[folds == fold].mean()) for fold in (0, 1)}
    return {"score": float(scores.mean()), "ci95_low": float(low), "ci95_high": float(high), **of_folds}


def _interrupted(courses: Any) -> list[str]:
    ended = [str(number) for number, course in enumerate(courses, 1) if course.interrupted]
    return [f"training was interrupted in fold {each}; scores are from its last complete epoch." for each in ended]
