"""Critical failures: caption pairs that a metric ranks against clear human ratings.

In the spirit of the critical failures of Feinglass and Yang 2021 (SMURF), section 4.5: correlations hide single large
errors that users notice. The definition is ours: a failure is a pair of captions of one image, one of which people rate
far better than the other, "far" being a share of the scale, while the metric scores the worse one higher; a tie is half
a failure.
"""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.evaluation.caption_checks.caption_warnings import few_images_warning
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling, bootstrap_sums
from captious.judgment.human_judgments import HumanJudgments, RatedCaptions
from captious.judgment.scores.metric_scores import (
    Metrics,
    as_selection,
    check_not_constant,
    negated,
    oriented,
    score_captions,
)
from captious.judgment.studies.shared.study_sources import judged_captions
from captious.judgment.study_result import Study
from captious.metrics.contract.settings import Settings
from captious.random_seed import DEFAULT_SEED


def critical_failures(
    benchmark: str | os.PathLike[str] | HumanJudgments,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    gap: float = 0.75,
    data: str | os.PathLike[str] | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the share of caption pairs with very different ratings that a metric ranks in the wrong order.

    A caption's rating is the mean of its ratings; the scale reaches from the lowest to the highest single rating of the
    benchmark (1 to 4 for flickr8k-expert, 1 to 5 for composite, where the best captions are mostly human and the worst
    machine captions).

    Args:
        benchmark: a benchmark of rated captions, as for ``judge``.
        gap: minimum difference between the ratings of a pair, as a share of the scale; 1 for only the best against the
            worst.
        metrics, settings, data: as for ``judge``.
        resamples, seed: number of resamples and random seed of the bootstrap interval over images.

    Returns:
        One record per metric: pairs, failures (the worse caption scores higher), ties, rate (failures and half the
        ties, per pair), ci95_low, ci95_high.

    Raises:
        ParameterError: a gap outside 0 to 1, a benchmark without ratings, or no pair of captions with this gap.
        Others as ``judge``.
    """
    sampling = Sampling(resamples, seed)
    if not 0 < gap <= 1:
        raise ParameterError(f"{gap:g} is not a valid gap", help="give a fraction of the scale, above 0 and at most 1")
    judgments = judged_captions(benchmark, data)
    name = judgments.protocol.full_name
    if not isinstance(judgments, RatedCaptions):
        raise ParameterError(
            f"{name} has preferences, not ratings", help="this study needs rated captions, such as composite"
        )
    better, worse, scale = _unequal_pairs(judgments, gap)
    if better.size == 0:
        raise ParameterError(
            f"no two captions of an image are {gap:g} of the scale apart",
            where=f"{name}, ratings from {scale[0]:g} to {scale[1]:g}",
            help="choose a smaller gap",
        )
    selection = as_selection(metrics, settings)
    report = score_captions(judgments.captions, selection, name=name)
    units = judgments.units[better]
    records = []
    for label, result in report.items():
        scores = oriented(result)
        check_not_constant(scores, where=f"{label} on {name}")
        wrong, tied = scores[worse] > scores[better], scores[worse] == scores[better]
        of_unit = np.zeros((judgments.n_units, 2))
        np.add.at(of_unit, units, np.stack([wrong + tied / 2, np.ones(len(wrong))], axis=1))
        of_unit = of_unit[of_unit[:, 1] > 0]
        sums = bootstrap_sums(of_unit, **sampling.settings)
        low, high = sampling.interval(sums[:, 0] / sums[:, 1])
        record = {"metric": label, "pairs": len(better), "failures": int(wrong.sum()), "ties": int(tied.sum())}
        record |= {"rate": float((wrong + tied / 2).mean()), "ci95_low": low, "ci95_high": high}
        records.append(record)
    return Study(
        "failures",
        f"Critical failures: {name}",
        ("metric", "pairs", "failures", "ties", "rate", "ci95_low", "ci95_high"),
        records,
        {label: result.signature for label, result in report.items()},
        dict(judgments.data),
        {"gap": gap, "scale": list(scale), **sampling.settings},
        warnings=[*report.warnings, *few_images_warning(len(np.unique(units)))],
        notes=[
            f"A pair is two captions of one image whose ratings differ by at least {gap:g} of the scale. It is a "
            "failure if the worse caption scores higher; a tie is half a failure. "
            "The definition is specific to captious.",
            *negated(selection.lower_is_better),
        ],
    )


def _unequal_pairs(
    judgments: RatedCaptions, gap: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[float, float]]:
    """Return the better and the worse caption of every pair of one image, int64[n] each, and the ends of the scale."""
    ratings = np.array([of_caption.mean() for of_caption in judgments.ratings])
    low = min(float(of_caption.min()) for of_caption in judgments.ratings)
    high = max(float(of_caption.max()) for of_caption in judgments.ratings)
    least = gap * (high - low) - 1e-9
    better, worse = [], []
    order = np.argsort(judgments.units, kind="stable")
    starts = np.searchsorted(judgments.units[order], np.arange(judgments.n_units + 1))
    for start, end in pairwise(starts.tolist()):
        rows = order[start:end]
        best, worst = np.nonzero(ratings[rows][:, None] - ratings[rows] >= least)
        better.append(rows[best])
        worse.append(rows[worst])
    return np.concatenate(better), np.concatenate(worse), (low, high)
