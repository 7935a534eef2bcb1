"""Distributions of the scores of human and machine captions of the same images.

One reference of each image is held out as the human caption; it and the captions of systems are scored with the other
references. A learned metric that was trained to recognize human captions should separate them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import read_captions, read_references, same_images
from captious.data.hold_out import hold_out
from captious.errors import ParameterError
from captious.evaluation.caption_checks.caption_warnings import few_images_warning
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling
from captious.judgment.protocols import PEOPLE
from captious.judgment.scores.metric_scores import Metrics, all_warnings, as_selection, score_captions, sign_of
from captious.judgment.studies.shared.study_sources import check_systems, checksums, name_of_file
from captious.judgment.study_result import Curve, Curves, Study
from captious.metrics.contract.settings import Settings
from captious.phrases import counted
from captious.progress import steps
from captious.random_seed import DEFAULT_SEED

#: Name of the human captions in tables.
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: The keys of ``summary``.
SUMMARY = ("mean", "sd", *(f"q{round(100 * quantile):02d}" for quantile in _QUANTILES))
_BINS = 40
_POINTS = 201  # points per curve
_BATCH = 50  # resamples at a time


def score_distributions(
    systems: Mapping[str, object],
    references: object,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    subset: bool = False,
    sample: int | None = 5000,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return means and quantiles of the scores of human captions and of systems, and how well scores separate the two.

    Args:
        systems: the captions of systems by name, in any supported form.
        references: human captions in any supported form; images with a single one are left out.
        metrics, settings: as for ``judge``.
        subset: use only the images that references and all systems have.
        sample: number of images to draw at random; all, if there are fewer. In Python, None for all.
        resamples, seed: number of resamples and random seed of the bootstrap over images; the seed also determines
            which images are drawn and which references are held out.

    Returns:
        One record per metric for people and for each system: metric, captions_of, mean, sd, quantiles ("q05" to "q95");
        and for systems auc, the probability that a random human caption scores better than a random caption of the
        system, ties counting one half, with auc_low and auc_high; and overlap, the common share of both histograms.

    Raises:
        ParameterError: no systems, one named people, too few images, or images that systems lack.
        Others as ``captious.score``, about captions and metrics.
    """
    sampling = Sampling(resamples, seed)
    check_systems(systems)
    if sample is not None and sample < 2:
        raise ParameterError(f"{counted(sample, 'image', 'are')} too few", help="draw at least 2; 5000 is usual")
    selection = as_selection(metrics, settings)
    table, data = read_references(references), checksums(references)
    people, left_out = hold_out(table, sampling.seed)
    shared = {str(image) for image in people.ids}
    for source in systems.values():
        shared &= {str(image) for image in read_captions(source, table, subset=subset).ids}
    common = np.flatnonzero([str(image) in shared for image in people.ids])
    rows = common if sample is None else np.sort(np.random.default_rng(sampling.seed).permutation(common)[:sample])
    if len(rows) < 2:
        raise ParameterError(
            f"only {counted(len(rows), 'image', 'have')} captions of people and of every system",
            help="distributions need several; 5000 is usual",
        )
    captions = {PEOPLE: people.select(rows)}
    for name, source in systems.items():
        captions[name] = read_captions(source, captions[PEOPLE].references, subset=True)
    assert all(same_images(table.ids, captions[PEOPLE].ids) for table in captions.values())
    with steps([*captions], str) as names:
        reports = {name: score_captions(captions[name], selection, name=name) for name in names}
    first = reports[PEOPLE]
    records: list[dict[str, Any]] = []
    pictures = {}
    with steps([*first], lambda label: f"{label}: intervals") as described:
        for label in described:
            scores = {name: report[label].per_caption for name, report in reports.items()}
            edges = _edges(np.concatenate([*scores.values()]))
            for name, values in scores.items():
                record: dict[str, Any] = {"metric": label, "captions_of": name, **summary(values)}
                if name != PEOPLE:
                    record |= _separation(scores[PEOPLE], values, edges, sign_of(first[label]), sampling)
                records.append(record)
            pictures[f"distributions-{label.replace('/', '-')}"] = cumulative(label, scores)
    notes = [
        "AUC: the probability that a random human caption scores better than a random caption of the system, ties "
        "counting one half; 95% intervals: percentile bootstrap over images. Overlap: the common share of both "
        f"histograms, of {_BINS} bins. {PEOPLE.capitalize()}: one reference per image, held out for all systems."
    ]
    if selection.lower_is_better:
        notes.append(f"Lower scores are better for {', '.join(selection.lower_is_better)}.")
    if left_out:
        notes.append(f"Excluded: {counted(left_out, 'image')} with a single reference.")
    return Study(
        "distributions",
        f"Scores of human and machine captions: {name_of_file(references, table.name)}, {counted(len(rows), 'image')}",
        (
            *("metric", "captions_of", *SUMMARY),
            *("auc", "auc_low", "auc_high", "overlap"),
        ),
        records,
        {label: result.signature for label, result in first.items()},
        {**data, **checksums(*systems.values())},
        {"images": len(rows), **sampling.settings},
        pictures,
        notes=notes,
        warnings=[*all_warnings(reports.values()), *few_images_warning(len(rows))],
    )


def summary(scores: NDArray[np.float64]) -> dict[str, float]:
    """Return mean, standard deviation and quantiles."""
    values = (scores.mean(), scores.std(ddof=1), *np.quantile(scores, _QUANTILES))
    return dict(zip(SUMMARY, map(float, values), strict=True))


def _edges(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the bins of histograms, equally wide, over the range of all scores."""
    low, high = float(scores.min()), float(scores.max())
    return np.linspace(low, high if high > low else low + 1, _BINS + 1)


def _separation(
    human: NDArray[np.float64],
    machine: NDArray[np.float64],
    edges: NDArray[np.float64],
    sign: float,
    sampling: Sampling,
) -> dict[str, float]:
    """Return AUC with its interval, and overlap, of scores float64[n_images] of the same images.

    The sign is -1 if lower scores are better.
    """
    n = len(human)
    ranks = np.unique(sign * np.concatenate([human, machine]), return_inverse=True)[1]
    rng = np.random.default_rng(sampling.seed)
    resampled = []
    for start in range(0, sampling.resamples, _BATCH):
        counts = rng.multinomial(n, np.full(n, 1 / n), min(_BATCH, sampling.resamples - start))
        resampled.append(_auc(counts.astype(np.float64), ranks))
    low, high = sampling.interval(np.concatenate(resampled))
    auc = float(_auc(np.ones((1, n)), ranks)[0])
    return {"auc": auc, "auc_low": low, "auc_high": high, "overlap": _overlap(human, machine, edges)}


def _auc(counts: NDArray[np.float64], ranks: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the share of pairs of a human and a machine caption in which the human one ranks higher, ties counting
    half.

    Args:
        counts: count of each image in a resample, float64[k, n_images].
        ranks: ranks of all human captions, then of all machine captions; equal for equal scores.
    """
    n = counts.shape[1]
    order = np.argsort(ranks, kind="stable")
    starts = np.flatnonzero(np.diff(ranks[order], prepend=-1))
    of_caption = counts[:, order % n]
    is_human = order < n
    human = np.add.reduceat(of_caption * is_human, starts, axis=1)  # by distinct score, lowest first
    machine = np.add.reduceat(of_caption * ~is_human, starts, axis=1)
    below = np.cumsum(machine, axis=1) - machine / 2
    return np.asarray((human * below).sum(axis=1) / counts.sum(axis=1) ** 2)


def _overlap(human: NDArray[np.float64], machine: NDArray[np.float64], edges: NDArray[np.float64]) -> float:
    """Return the common share of two histograms, 0 to 1."""
    shares = [np.histogram(scores, edges)[0] / len(scores) for scores in (human, machine)]
    return float(np.minimum(*shares).sum())


def cumulative(label: str, scores: Mapping[str, NDArray[np.float64]]) -> Curves:
    """Return the share of captions whose score is at most x."""
    shares = np.linspace(0, 1, _POINTS)
    lines = {name: Curve(np.quantile(values, shares), shares) for name, values in scores.items()}
    return Curves(f"Scores of {label}", "score", "share of captions with this score or a lower one", lines)
