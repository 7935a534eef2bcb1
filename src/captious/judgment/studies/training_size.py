"""Agreement of learned metrics with human judgments by number of training images."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from captious.errors import ParameterError
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling
from captious.judgment.human_judgments import HumanJudgments
from captious.judgment.studies.shared.network_trials import Trials, Variation
from captious.judgment.study_result import Study
from captious.learned.networks.network_recipes import Recipe
from captious.metrics.contract.settings import Settings
from captious.phrases import counted
from captious.random_seed import DEFAULT_SEED

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
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the agreement with human judgments of networks trained on the examples of fewer images.

    For each size, as many images are drawn from those of the training examples, and drawn again for every random seed;
    a larger draw contains the smaller ones.

    Args:
        examples: a file written by ``captious learn data``.
        recipe: a recipe, its name, or its file.
        benchmarks: benchmarks of captions, as for ``judge``.
        sizes: numbers of training images; by default all, half of them, a quarter and so on, down to 1/64.
        validation: a file of captions with ratings, as for ``captious learn train``. By default, the validation
            examples.
        settings: word vectors, parser and other settings of the features.
        data: the folder of judgment data; by default ``CAPTIOUS_DATA``.
        seeds: number of networks to train each way, with different random seeds.
        resamples, seed: number of resamples and random seed of the bootstrap over the images of a benchmark.

    Returns:
        One record per size and benchmark, the largest size and the validation captions first: images, benchmark, value
        (mean over seeds), ci95_low, ci95_high, sd_over_seeds; and difference, difference_low and difference_high, from
        the largest size.

    Raises:
        ParameterError: a size below 1, or above the number of images.
        Others as ``feature_ablation``.
    """
    trials = Trials(
        examples,
        recipe,
        benchmarks,
        validation=validation,
        settings=settings,
        data=data,
        seeds=seeds,
        sampling=Sampling(resamples, seed),
    )
    most = trials.n_images
    sizes = sizes or [size for size in (most >> halvings for halvings in range(_HALVINGS + 1)) if size]
    if wrong := [size for size in sizes if not 1 <= size <= most]:
        raise ParameterError(
            f"{wrong[0]:,} is not a number of training images",
            where=f"there are {most:,}",
            help=f"give 1 to {most:,}",
        )
    sizes = sorted({*sizes}, reverse=True)
    rows = trials.compared({counted(size, "image"): ({"images": size}, Variation(images=size)) for size in sizes})
    return trials.study(
        "size",
        "by number of training images",
        ("images",),
        rows,
        "Every seed draws other images, so the standard deviation over seeds includes that of the draw.",
        pictures=trials.curves("size", "training images", rows, sizes, logarithmic=True),
    )
