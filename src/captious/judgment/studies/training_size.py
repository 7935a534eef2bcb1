"""How many examples does a learned metric need? Agreement with human judgments by number of training images."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np

from captious.errors import ParameterError
from captious.evaluation.resampling import DEFAULT_SEED, Sampling
from captious.judgment.human_judgments import HumanJudgments
from captious.judgment.network_trials import AGREEMENT, Way, check_seeds, compared, curves, prepare
from captious.judgment.study import Study
from captious.learned.recipes import Recipe
from captious.metrics.contract.settings import Settings

__all__ = ["training_size"]

_HALVINGS = 6


def training_size(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    benchmarks: Iterable[str | os.PathLike[str] | HumanJudgments] = (),
    sizes: Sequence[int] = (),
    *,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    data: str | os.PathLike[str] | None = None,
    seeds: int = 3,
    resamples: int = 1000,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Agreement with human judgments of networks that are trained on the examples of fewer images.

    For each size, as many images are drawn from those of the training examples, and drawn again for every random seed;
    a larger draw contains the smaller ones.

    Args:
        examples: a file that ``captious learn data`` wrote.
        recipe: how to train: its name, a file, or the recipe itself.
        benchmarks: benchmarks of captions, as ``judge`` takes them.
        sizes: numbers of training images; by default all, half of them, a quarter and so on, down to 1/64.
        validation: a file of captions with ratings, as for ``captious learn train``. By default, the validation
            examples.
        settings: word vectors, parser and other settings of the features.
        data: the folder of judgment data; by default the one that ``CAPTIOUS_DATA`` names.
        seeds: number of networks to train each way, with different random seeds.
        resamples, seed: number of resamples and random seed of the bootstrap over the images of a benchmark.

    Returns:
        One record per size and benchmark, the largest size and the validation captions first: images, benchmark, value
        (mean over seeds), ci95_low, ci95_high, sd_over_seeds; and difference, difference_low and difference_high, from
        the largest size.

    Raises:
        ParameterError: a size below 1, or above the number of images.
        MissingExtraError: torch is not installed.
        and what ``captious.learned.learn.learn`` and ``judge`` raise.
    """
    sampling = Sampling(resamples, seed)
    check_seeds(seeds)
    material = prepare(examples, recipe, benchmarks, validation=validation, settings=settings, data=data)
    most = material.n_images
    wanted = sizes or [size for size in (most >> halved for halved in range(_HALVINGS + 1)) if size]
    if wrong := [size for size in wanted if not 1 <= size <= most]:
        raise ParameterError(
            f"{wrong[0]:,} is not a number of training images",
            where=f"there are {most:,}",
            help=f"give 1 to {most:,}",
        )
    wanted = sorted({*wanted}, reverse=True)
    ways = {f"{size:,} images": ({"images": size}, Way(images=size)) for size in wanted}
    rows = compared(material, ways, seeds, sampling)
    drawn = curves(material, "training images", rows, np.array(wanted, float), logarithmic=True)
    return Study(
        "size",
        f"Agreement with human judgments by number of training images: recipe {material.recipe.name}",
        ("images", *AGREEMENT),
        rows,
        material.signatures,
        material.data,
        {"recipe": material.recipe.name, "seeds": seeds, **sampling.settings},
        {f"size-{benchmark}": each for benchmark, each in drawn.items()},
        notes=[
            *material.notes(seeds),
            "Every seed draws other images, so the standard deviation over seeds includes that of the draw.",
        ],
        warnings=material.warnings,
    )
