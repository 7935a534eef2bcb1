"""LEIC's protocol for a system: a critique is trained on one half of its captions, and scores the other half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References
from captious.errors import ParameterError
from captious.learned.critique.critique_recipes import CritiqueRecipe
from captious.learned.critique.critique_scores import critique_scores, drawn_references
from captious.learned.critique.critique_training import Course, check_references, train_critique
from captious.learned.critique.critique_weights import CritiqueWeights
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures
from captious.phrases import counted
from captious.progress import Progress


@dataclass(frozen=True, eq=False)
class TwoFolds:
    """Scores of a system by critiques that have not seen its images.

    Args:
        system: the probability that a person wrote each caption of the system, float64[n].
        human: the same for one human caption of each image, read with another one, float64[n].
        folds: the fold of each image, 0 or 1, int64[n].
        critiques: the two critiques; the first is trained on fold 1 and scores fold 0.
        courses: the courses of their training.
    """

    system: NDArray[np.float64]
    human: NDArray[np.float64]
    folds: NDArray[np.int64]
    critiques: tuple[CritiqueWeights, CritiqueWeights]
    courses: tuple[Course, Course]


def two_folds(
    captions: Captions,
    recipe: CritiqueRecipe,
    *,
    sampled: Mapping[ImageId, Sequence[str]] | None = None,
    images: ImageFeatures | None = None,
    vectors: WordVectors | None = None,
    all_references: bool = False,
) -> TwoFolds:
    """Train on each half of the images of a system, and score the other.

    Args:
        captions: the system's captions and the references, two or more for each image.
        recipe: the training recipe; its seed also draws the halves.
        sampled, images, vectors: as for ``train_critique``.
        all_references: average over all references of an image as contexts, as in the paper, instead of using a random
            one, as in the official code.

    Raises:
        MissingExtraError, ParameterError: as ``train_critique``; fewer than four images.
    """
    n = len(captions)
    if n < 4:
        raise ParameterError(
            f"{counted(n, 'image', 'are')} too few for two folds", help="give at least four; thousands are usual"
        )
    check_references(captions.references)
    folds = np.zeros(n, np.int64)
    folds[np.random.default_rng(recipe.seed).permutation(n)[: n // 2]] = 1
    system, human = np.empty(n), np.empty(n)
    people = _people(captions.references, recipe.seed)
    seed = None if all_references else recipe.seed
    critiques = []
    with Progress(2) as progress:
        for fold in (0, 1):
            progress.step(f"fold {fold + 1} of 2")
            half, training = captions.select(folds == fold), captions.select(folds != fold)
            generated = {image: [text] for image, text in zip(training.ids, training.candidates, strict=True)}
            trained, course = train_critique(
                training.references, recipe, generated=generated, sampled=sampled, images=images, vectors=vectors
            )
            system[folds == fold] = critique_scores(trained, half, images, seed=seed)
            human[folds == fold] = critique_scores(trained, people.select(folds == fold), images, seed=seed)
            critiques.append((trained, course))
    (first, first_course), (second, second_course) = critiques
    return TwoFolds(system, human, folds, (first, second), (first_course, second_course))


def _people(references: References, seed: int) -> Captions:
    """Return one human caption of each image as the candidate, with the other references."""
    empty = Captions(("",) * len(references), references)
    candidate_rows = drawn_references(empty, seed + 1)
    is_reference = np.ones(len(references.texts), bool)
    is_reference[candidate_rows] = False
    references_left = References(
        references.ids,
        tuple(text for text, keep in zip(references.texts, is_reference, strict=True) if keep),
        references.offsets - np.arange(len(references) + 1),
        name=references.name,
        images=references.images,
    )
    return Captions(tuple(references.texts[row] for row in candidate_rows.tolist()), references_left)
