"""Agreement of metrics with human judgments by number of references.

Sharif et al. 2019 (LCEval), section 7.5.5; Vedantam et al. 2015 on PASCAL-50S.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import ParameterError
from captious.evaluation.caption_checks.caption_warnings import few_images_warning
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling
from captious.judgment.benchmarks import benchmark_names
from captious.judgment.files.judgment_files import data_folder
from captious.judgment.human_judgments import CaptionPairs, HumanJudgments, RatedCaptions
from captious.judgment.scores.metric_scores import (
    Metrics,
    as_selection,
    check_not_constant,
    negated,
    oriented,
    score_captions,
)
from captious.judgment.studies.shared.study_sources import judged_captions
from captious.judgment.study_result import Curve, Curves, Study
from captious.metrics.contract.selection import Selection
from captious.metrics.contract.settings import Settings
from captious.phrases import counted, counted_of
from captious.progress import steps
from captious.random_seed import DEFAULT_SEED

_USUAL = (1, 2, 3, 4, 5, 10, 20, 40)


def reference_counts(
    benchmark: str | os.PathLike[str] | HumanJudgments,
    metrics: Metrics = None,
    counts: Sequence[int] = (),
    *,
    settings: Settings | None = None,
    draws: int = 5,
    data: str | os.PathLike[str] | None = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the statistic of a benchmark with fewer references or, if it has a pool of them, more.

    For each count, that many references of every image are drawn without replacement and the benchmark is judged with
    them; the value is the mean over draws. All metrics have the same draws, and a draw of more references contains that
    of fewer. Captions with fewer references than a count keep all of theirs. The pool of pascal-50s is the fifty
    references of each image, except the captions to be judged. CIDEr's document frequencies are counted over the drawn
    references.

    Args:
        benchmark: a benchmark of captions, as for ``judge``.
        counts: numbers of references; by default 1 to 5, 10, 20, 40 and all, up to the number available.
        draws: number of random draws of references for each count.
        metrics, settings, data: as for ``judge``.
        resamples, seed: number of resamples and random seed of the interval, a bootstrap over images of the mean over
            draws.

    Returns:
        One record per metric and count: metric, references, value, ci95_low, ci95_high.

    Raises:
        ParameterError: counts below 1 or above the number of references; a benchmark of systems.
        Others as ``judge``.
    """
    sampling = Sampling(resamples, seed)
    if draws < 1:
        raise ParameterError(f"{draws} is not a number of draws", help="draw at least once")
    judgments = judged_captions(benchmark, data)
    selection = as_selection(metrics, settings)
    table, read = _pool(judgments, data)
    available = np.diff(table.offsets)
    counts = _checked_counts(counts, int(available.max()))
    scores, signatures, warnings = _scored(judgments, table, selection, counts, draws, sampling.seed)
    records = []
    lines = {}
    with steps([*signatures], lambda label: f"{label}: intervals") as tested:
        for label in tested:
            rows = []
            for count in counts:
                of_draws = scores[label, count]
                value = float(np.mean([judgments.values(draw).mean() for draw in of_draws]))
                rows.append((value, *sampling.interval(judgments.resampled_mean(of_draws, sampling))))
                keys = ("value", "ci95_low", "ci95_high")
                records.append({"metric": label, "references": count, **dict(zip(keys, rows[-1], strict=True))})
            value, low, high = np.array(rows).T
            lines[label] = Curve(np.array(counts, float), value, low, high)
    statistic = judgments.protocol.statistic
    name = judgments.protocol.full_name
    return Study(
        "references",
        f"Agreement with human judgments by number of references: {name}, {statistic}",
        ("metric", "references", "value", "ci95_low", "ci95_high"),
        records,
        signatures,
        {**judgments.data, **read},
        {"counts": list(counts), "draws": draws, **sampling.settings},
        {"references": Curves(name, "references", statistic, lines)},
        notes=[*_notes(counts, available), *negated(selection.lower_is_better)],
        warnings=[*warnings, *few_images_warning(judgments.n_units)],
    )


def _scored(
    judgments: RatedCaptions | CaptionPairs,
    table: References,
    selection: Selection,
    counts: Sequence[int],
    draws: int,
    seed: int,
) -> tuple[dict[tuple[str, int], list[NDArray[np.float64]]], dict[str, str], list[str]]:
    """Return scores of every draw by metric and count, signatures by metric, and warnings for the most references."""
    orders = _orders(table, draws, np.random.default_rng(seed))
    available = int(np.diff(table.offsets).max())
    scores: dict[tuple[str, int], list[NDArray[np.float64]]] = {}
    signatures: dict[str, str] = {}
    warnings: list[str] = []
    all_draws = [(count, n) for count in counts for n in range(1 if count >= available else draws)]
    what = judgments.protocol.full_name
    with steps(all_draws, lambda draw: f"{what}: {draw[0]} references, draw {draw[1] + 1}") as scored:
        for count, number in scored:
            captions = Captions(judgments.captions.candidates, _first_references(table, orders[number], count))
            report = score_captions(captions, selection, name=what)
            for label, result in report.items():
                check_not_constant(result.per_caption, where=f"{label} with {counted(count, 'reference')}")
                scores.setdefault((label, count), []).append(oriented(result))
                signatures[label] = result.signature
            if count == counts[-1]:  # fewer references are what the study is about
                warnings += [warning for warning in report.warnings if warning not in warnings]
    return scores, signatures, warnings


def _pool(
    judgments: RatedCaptions | CaptionPairs, data: str | os.PathLike[str] | None
) -> tuple[References, dict[str, str]]:
    """Return the references of every caption from which to draw, and their files."""
    protocol = judgments.protocol
    benchmark = benchmark_names.get(protocol.benchmark) if protocol.benchmark in benchmark_names.names() else None
    if benchmark is None or benchmark.pool is None or protocol not in benchmark.protocols:
        return judgments.captions.references, {}
    folder = data_folder(data)
    return benchmark.pool(judgments, folder), folder.read


def _checked_counts(counts: Sequence[int], most: int) -> list[int]:
    if not counts:
        return [*(count for count in _USUAL if count < most), most]
    wrong = [count for count in counts if not 1 <= count <= most]
    if wrong:
        raise ParameterError(
            f"no caption has {counted(wrong[0], 'reference')}",
            where=f"there are up to {most}",
            help=f"give 1 to {most}",
        )
    return sorted(set(counts))


def _orders(table: References, draws: int, rng: np.random.Generator) -> list[list[NDArray[np.int64]]]:
    """Draw orders of the references of each caption; captions with the same references share them."""
    at = table.offsets.tolist()
    reference_texts = [table.texts[a:b] for a, b in pairwise(at)]
    orders = []
    for _ in range(draws):
        shared: dict[tuple[str, ...], NDArray[np.int64]] = {}
        for texts in reference_texts:
            if texts not in shared:
                shared[texts] = rng.permutation(len(texts))
        orders.append([shared[texts] for texts in reference_texts])
    return orders


def _first_references(table: References, order: list[NDArray[np.int64]], count: int) -> References:
    """Return the first references of each order, in their original order."""
    starts = table.offsets.tolist()
    row_lists = [np.sort(permutation[:count]).tolist() for permutation in order]
    texts = tuple(table.texts[start + i] for start, rows in zip(starts, row_lists, strict=False) for i in rows)
    offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in row_lists])])
    return References(table.ids, texts, offsets, name=table.name, images=table.images)


def _notes(counts: Sequence[int], available: NDArray[np.int64]) -> list[str]:
    short = int((available < max(counts)).sum())
    if not short:
        return []
    return [
        f"{counted_of(short, len(available), 'caption', 'have')} fewer than {max(counts)} references, all of which "
        "are kept."
    ]
