"""``two_fold_study``: a system scored by LEIC in two folds, with intervals and training details."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import read_captions
from captious.evaluation.caption_checks.caption_warnings import few_images_warning
from captious.evaluation.inference.resampling import Sampling
from captious.evaluation.systems import name_of
from captious.judgment.studies.shared.study_sources import checksums
from captious.judgment.study_result import Study
from captious.learned.critique.critique_recipes import CritiqueRecipe
from captious.learned.critique.drawn_negatives import captions_by_image
from captious.learned.critique.two_folds import two_folds
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures
from captious.phrases import counted


def two_fold_study(
    candidates: str | os.PathLike[str],
    references: str | os.PathLike[str],
    recipe: CritiqueRecipe,
    *,
    sampled: Sequence[str | os.PathLike[str]] = (),
    images: ImageFeatures | None = None,
    vectors: WordVectors | None = None,
    all_references: bool = False,
    subset: bool = False,
    resamples: int,
) -> Study:
    """Score a system, and human captions, by critiques trained on the other half of its images.

    Args:
        candidates, references: files of captions.
        sampled: files of captions of other systems, for training.
        recipe, images, vectors, all_references: as for ``two_folds``.
        subset: use only the images that both files have.
        resamples: number of resamples of the bootstrap over images, with the seed of the recipe.

    Returns:
        Two records, one for the system and one for human captions: captions, score, ci95_low, ci95_high, fold_1,
            fold_2.

    Raises:
        ParameterError, MissingExtraError: as ``two_folds``.
        InputError: invalid captions.
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
    sampling = Sampling(resamples, recipe.seed)
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
    return Study(
        "leic",
        f"LEIC in two folds: {counted(len(captions), 'image')}, recipe {settings['recipe']}, images: "
        f"{settings['images']}",
        ("captions", "score", "ci95_low", "ci95_high", "fold_1", "fold_2"),
        [
            {"captions": name, **_record(scores, folds.folds, sampling)}
            for name, scores in ((name_of(candidates, "candidates"), folds.system), ("human", folds.human))
        ],
        data=checksums(candidates, references, *sampled),
        settings=settings,
        warnings=[*interrupted, *few_images_warning(len(captions))],
    )


def _record(scores: NDArray[np.float64], folds: NDArray[np.int64], sampling: Sampling) -> dict[str, float]:
    low, high = sampling.interval_of_mean(scores)
    of_folds = {f"fold_{fold + 1}": float(scores[folds == fold].mean()) for fold in (0, 1)}
    return {"score": float(scores.mean()), "ci95_low": low, "ci95_high": high, **of_folds}
