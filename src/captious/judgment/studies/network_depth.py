"""Agreement of learned metrics with human judgments by number of hidden layers.

Sharif et al. 2019 (LCEval), the ablation of architectures.
"""

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
from captious.random_seed import DEFAULT_SEED

_MOST = 16  # layers of a recipe


def network_depth(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    benchmarks: Iterable[str | os.PathLike[str] | HumanJudgments] = (),
    depths: Sequence[int] = (0, 1, 2, 3),
    *,
    width: int | None = None,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    data: str | os.PathLike[str] | None = None,
    seeds: int = 3,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the agreement with human judgments of networks with different numbers of hidden layers of one width.

    Args:
        examples: a file written by ``captious learn data``.
        recipe: a recipe, its name, or its file; its hidden layers are ignored.
        benchmarks: benchmarks of captions, as for ``judge``.
        depths: numbers of hidden layers.
        width: width of each hidden layer. By default, that of the recipe's first one.
        validation: a file of captions with ratings, as for ``captious learn train``. By default, the validation
            examples.
        settings: word vectors, parser and other settings of the features.
        data: the folder of judgment data; by default ``CAPTIOUS_DATA``.
        seeds: number of networks to train each way, with different random seeds.
        resamples, seed: number of resamples and random seed of the bootstrap over the images of a benchmark.

    Returns:
        One record per depth and benchmark, the validation captions first: layers, such as "16-12-2", hidden_layers,
        benchmark, value (mean over seeds), ci95_low, ci95_high, sd_over_seeds; and difference, difference_low and
        difference_high, from the first depth. In the last records, layers is "none" and hidden_layers None: the mean
        of the features, which needs no training.

    Raises:
        ParameterError: no depths, one out of range, or a recipe without hidden layers and no width.
        Others as ``feature_ablation``.
    """
    sampling = Sampling(resamples, seed)
    depths = [*dict.fromkeys(depths)]
    if not depths or not all(0 <= depth <= _MOST for depth in depths):
        raise ParameterError(f"invalid numbers of hidden layers: {depths}", help=f"give numbers from 0 to {_MOST}")
    trials = Trials(
        examples,
        recipe,
        benchmarks,
        validation=validation,
        settings=settings,
        data=data,
        seeds=seeds,
        sampling=sampling,
    )
    if width is None:
        if not trials.recipe.hidden and any(depths):
            raise ParameterError(
                f"the recipe {trials.recipe.name} has no hidden layers, so their width is unknown",
                help="give a width",
            )
        width = trials.recipe.hidden[0] if trials.recipe.hidden else 0
    variations = {}
    for depth in depths:
        hidden = (width,) * depth
        layers = "-".join(map(str, (len(trials.recipe.features), *hidden, 2)))
        variations[f"{depth} hidden layers"] = {"layers": layers, "hidden_layers": depth}, Variation(hidden=hidden)
    variations["no network"] = {"layers": "none", "hidden_layers": None}, Variation(trained=False)
    rows = trials.compared(variations)
    return trials.study(
        "depth",
        "by number of hidden layers",
        ("layers", "hidden_layers"),
        rows,
        "Without layers: the mean of the features.",
        settings={"width": width},
        pictures=trials.curves(
            "depth", "hidden layers", [row for row in rows if row["hidden_layers"] is not None], depths
        ),
    )
