"""Studies of LEIC: variants of its critique, and the scores of a system in two folds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Ids, Match, read_captions
from captious.errors import ParameterError
from captious.evaluation.checks import few_images_warning
from captious.evaluation.report import name_of
from captious.judgment.results import Dot, Dots, Study
from captious.judgment.studies.references import PATHOLOGIES, specimens_of
from captious.judgment.studies.sources import checksums, name_of_file
from captious.learned.leic import CritiqueRecipe, as_critique_recipe
from captious.learned.training.critiques import captions_by_image, two_folds
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures
from captious.progress import steps
from captious.statistics import DEFAULT_RESAMPLES, Sampling
from captious.words import DEFAULT_SEED, counted

# LEIC's critiques trained with and without images and augmentation, and with several networks.
#
# Cui et al. 2018 (LEIC), figures 5, 8 and 9. Every critique is trained in two folds, each of which is scored by the one
# trained on the other fold: the system's captions, human captions, and fully corrupted human captions, as in the study
# of robustness.


def critique_grid(
    candidates: object,
    references: object,
    recipe: CritiqueRecipe | str | os.PathLike[str] = "leic",
    *,
    images: ImageFeatures | str | os.PathLike[str] | None = None,
    vectors: WordVectors | str | None = None,
    layers: Sequence[int] = (1,),
    match: Match = "all",
    sample: int | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Score a system, people and corrupted human captions by critiques that are trained in several ways.

    Args:
        candidates: the captions of a system, in any supported form.
        references: human captions in any supported form, two or more for each image.
        recipe: a recipe, its name, or its file; values that the grid varies are ignored.
        images: image features, from ``captious learn image-features``. Without them, images are not used.
        vectors: initial word vectors. By default, random numbers.
        layers: numbers of layers of the LSTM.
        match: which images: "common" uses the images that both sides have; otherwise, a difference is an error.
        sample: number of images to draw at random; all by default.
        resamples, seed: number of resamples and random seed of the bootstrap interval over images; the seed also draws
            images and corruptions.

    Returns:
        One record per critique: images (none, context or only), augmentation (whether corrupted human captions are
        among its negative examples), layers, score (of the system) with ci95_low and ci95_high, human (score of human
        captions), and the scores of human captions with each corruption; all are mean probabilities that a person wrote
        the captions. Intervals do not show how much scores depend on the training.

    Raises:
        MissingExtraError: torch is not installed.
        ParameterError: no number of layers, or as for training in two folds.
        Others as ``captious.score``, about captions.
    """
    sampling = Sampling(resamples, seed)
    if not layers:
        raise ParameterError("no numbers of layers were given", hint="give one or several, such as 1,2")
    recipe = as_critique_recipe(recipe)
    data = checksums(candidates, references, *([images] if isinstance(images, str | os.PathLike) else []))
    features = ImageFeatures.load(images) if isinstance(images, str | os.PathLike) else images
    words = None if vectors is None else WordVectors.open(vectors)
    captions = read_captions(candidates, references, match=match)
    rng = np.random.default_rng(sampling.seed)
    if sample is not None and sample < len(captions):
        captions = captions.select(np.sort(rng.permutation(len(captions))[:sample]))
    specimens, _ = specimens_of(captions.references, None, rng)
    corrupted = {pathology: specimens.captions(pathology, 1.0) for pathology in PATHOLOGIES}
    records: list[dict[str, Any]] = []
    with steps([*_grid(recipe, features is not None, layers)], _label) as trained:
        for trial in trained:
            of_trial = None if trial.images == "none" else features
            folds = two_folds(captions, trial, images=of_trial, vectors=words, others=corrupted)
            record = {"images": trial.images, "augmentation": _augmented(trial), "layers": trial.layers}
            means = {name: float(scores.mean()) for name, scores in {"human": folds.human, **folds.others}.items()}
            records.append({**record, **_score(folds.system, sampling), **means})
    dots = {
        ", ".join(map(str, (record["images"], record["augmentation"], record["layers"]))): Dot(
            record["score"], (record["ci95_low"], record["ci95_high"])
        )
        for record in records
    }
    name = name_of_file(candidates, "candidates")
    return Study(
        "critiques",
        f"LEIC in two folds, trained in several ways: {name}, {counted(len(captions), 'image')}, recipe {recipe.name}",
        ("images", "augmentation", "layers", "score", "ci95_low", "ci95_high", "human", *PATHOLOGIES),
        records,
        {},
        data,
        {
            "recipe": recipe.name,
            "units": recipe.units,
            "epochs": recipe.epochs,
            "images": len(captions),
            **sampling.settings,
        },
        {"critiques": Dots(f"Score of {name}: images, augmentation, layers", "score", dots)},
        notes=["Scores: the mean probability that a person wrote the captions, by critiques of the other fold."],
        warnings=few_images_warning(len(captions)),
    )


def _grid(recipe: CritiqueRecipe, has_images: bool, layers: Sequence[int]) -> Iterator[CritiqueRecipe]:
    """Return the recipe with each choice of images, augmentation and layers."""
    for n in layers:
        for images in ("none", "context", "only") if has_images else ("none",):
            for negatives in (("generated", "pathological"), ("generated",)):
                yield replace(recipe, images=images, negatives=negatives, layers=int(n))


def _augmented(recipe: CritiqueRecipe) -> str:
    return "yes" if "pathological" in recipe.negatives else "no"


def _label(recipe: CritiqueRecipe) -> str:
    return f"images: {recipe.images}, augmentation: {_augmented(recipe)}, layers: {recipe.layers}"


# ``two_fold_study``: a system scored by LEIC in two folds, with intervals and training details.


def two_fold_study(
    candidates: str | os.PathLike[str],
    references: str | os.PathLike[str],
    recipe: CritiqueRecipe,
    *,
    sampled: Sequence[str | os.PathLike[str]] = (),
    images: ImageFeatures | None = None,
    vectors: WordVectors | None = None,
    all_references: bool = False,
    trainings: int = 1,
    last_epochs: int = 1,
    match: Match = "all",
    ids: Ids = "exact",
    resamples: int,
) -> Study:
    """Score a system, and human captions, by critiques trained on the other half of its images.

    Args:
        candidates, references: files of captions.
        sampled: files of captions of other systems, for training.
        recipe, images, vectors, all_references, trainings, last_epochs: as for ``two_folds``.
        match, ids: as for ``captious.score``.
        resamples: number of resamples of the bootstrap over images, with the seed of the recipe.

    Returns:
        Two records, one for the system and one for human captions: captions, score, ci95_low, ci95_high, fold_1,
            fold_2.

    Raises:
        ParameterError, MissingExtraError: as ``two_folds``.
        InputError: invalid captions.
    """
    captions = read_captions(candidates, references, match=match, ids=ids)
    folds = two_folds(
        captions,
        recipe,
        sampled=captions_by_image(sampled, captions.references),
        images=images,
        vectors=vectors,
        all_references=all_references,
        trainings=trainings,
        last_epochs=last_epochs,
    )
    sampling = Sampling(resamples, recipe.seed)
    trained = folds.critiques[0][0].critique.recipe.to_dict()
    settings = {
        "recipe": trained.pop("name"),
        **trained,
        "context": "all references" if all_references else "one reference",
        **({} if images is None else {"image_features": images.label}),
        **({} if vectors is None else {"vectors": vectors.label}),
        "trainings": trainings,
        "last_epochs": last_epochs,
        "resamples": resamples,
        "training_accuracy": [round(course.accuracies[-1], 4) for courses in folds.courses for course in courses],
    }
    interrupted = [
        f"training was interrupted in fold {number}; scores are from its last complete epochs."
        for number, courses in enumerate(folds.courses, 1)
        if any(course.interrupted for course in courses)
    ]
    spread = f"Score of the system by training: {', '.join(f'{score:.4f}' for score in folds.trainings)}."
    return Study(
        "leic",
        f"LEIC in two folds: {counted(len(captions), 'image')}, recipe {settings['recipe']}, images: "
        f"{settings['images']}",
        ("captions", "score", "ci95_low", "ci95_high", "fold_1", "fold_2"),
        [
            {
                "captions": name,
                **_score(scores, sampling),
                **{f"fold_{fold + 1}": float(scores[folds.folds == fold].mean()) for fold in (0, 1)},
            }
            for name, scores in ((name_of(candidates, "candidates"), folds.system), ("human", folds.human))
        ],
        data=checksums(candidates, references, *sampled),
        settings=settings,
        notes=[spread] if trainings > 1 else [],
        warnings=[*interrupted, *few_images_warning(len(captions))],
    )


def _score(scores: NDArray[np.float64], sampling: Sampling) -> dict[str, float]:
    """Return the mean of scores, with its interval."""
    low, high = sampling.interval_of_mean(scores)
    return {"score": float(scores.mean()), "ci95_low": low, "ci95_high": high}
