"""Studies of metrics: their correlations over captions and over systems, and the time that they take."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, Ids, Match, References, read_captions, read_references
from captious.errors import CaptionFileError, ParameterError
from captious.evaluation import Report, evaluate
from captious.files import user_text
from captious.judgment.benchmarks import names as benchmark_names
from captious.judgment.correlation import STATISTICS, correlation
from captious.judgment.files import data_folder
from captious.judgment.items import letters
from captious.judgment.judgments import PEOPLE, CaptionPairs, HumanJudgments, Protocol, SystemRanking
from captious.judgment.results import Matrix, Study
from captious.judgment.scores import (
    Metrics,
    all_warnings,
    as_selection,
    negated,
    oriented,
    score_captions,
    score_each,
    sign_of,
    split_sums,
)
from captious.judgment.studies.sources import checksums, defined, judged_captions
from captious.metrics.contract.settings import Settings
from captious.native import threads, using_threads
from captious.progress import steps
from captious.resources.cache import text_as_json
from captious.statistics import DEFAULT_RESAMPLES, Sampling
from captious.tables import scatter
from captious.words import DEFAULT_SEED, counted

# Correlations between metrics, and with human judgments, on a benchmark.
#
# Sharif et al. 2020 (WEmbSim), figure 8.4, shows them as a heat map.


def metric_correlations(
    benchmark: str | os.PathLike[str] | HumanJudgments,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    statistic: str = "pearson",
    data: str | os.PathLike[str] | None = None,
) -> Study:
    """Return correlations between all pairs of metrics, and with human judgments.

    Points are ratings, as in ``judge``: a caption that several people rated one by one counts once per rating. For
    pairs of captions, points are the pairs in both orders: the difference of two scores, and the human preference.

    Args:
        benchmark: a benchmark of captions, as for ``judge``.
        statistic: correlation statistic: kendall-tau-b, kendall-tau-c, spearman or pearson.
        metrics, settings, data: as for ``judge``; the parts of a sum have rows, too.

    Returns:
        A symmetric table with one record per metric and one for people; a correlation with a constant is None.

    Raises:
        ParameterError: an unknown statistic, or a benchmark of systems.
        Others as ``judge``.
    """
    check_statistic(statistic)
    judgments = judged_captions(benchmark, data)
    name = judgments.protocol.full_name
    with_parts, sums, _ = split_sums(metrics)
    selection = as_selection(with_parts, settings)
    report = score_captions(judgments.captions, selection, name=name)
    points = {label: oriented(result) for label, result in report.items()}
    points |= {metric_sum.label: metric_sum.total(points) for metric_sum in sums}
    signatures = {label: result.signature for label, result in report.items()}
    signatures |= {metric_sum.label: metric_sum.signature(signatures) for metric_sum in sums}
    if isinstance(judgments, CaptionPairs):
        margins = {label: -np.diff(judgments.of_pairs(scores))[:, 0] for label, scores in points.items()}
        margins[PEOPLE] = np.where(judgments.preferred == 0, 1.0, -1.0)
        points = {label: np.concatenate([margin, -margin]) for label, margin in margins.items()}  # in both orders
        of = "pairs"
    else:
        counts = [len(of_caption) for of_caption in judgments.ratings]
        points = {label: np.repeat(scores, counts) for label, scores in points.items()}
        points[PEOPLE] = np.concatenate(judgments.ratings)
        of = "ratings"
    records, matrix = correlations(points, statistic)
    title = f"Correlations between metrics and with human judgments: {name}, {statistic} over {judgments.n:,} {of}"
    return Study(
        "metrics",
        title,
        ("metric", *points),
        [{"metric": label, **record} for label, record in records.items()],
        signatures,
        dict(judgments.data),
        {"statistic": statistic},
        notes=negated(selection.lower_is_better),
        warnings=report.warnings,
        pictures={"metrics": Matrix(f"{name}, {statistic}", list(points), matrix)},
    )


def correlations(
    points: Mapping[str, NDArray[np.float64]], statistic: str
) -> tuple[dict[str, dict[str, float | None]], NDArray[np.float64]]:
    """Return correlations of all pairs: label -> label -> value, None if undefined; and the same as an array."""
    labels = list(points)
    matrix = np.eye(len(labels))
    for i, a in enumerate(labels):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = correlation(statistic, points[a], points[labels[j]])
    records = {
        a: {b: defined(value) for b, value in zip(labels, row, strict=True)}
        for a, row in zip(labels, matrix, strict=True)
    }
    return records, matrix


def check_statistic(statistic: str) -> None:
    """Check that a statistic is a correlation.

    Raises:
        ParameterError: it is not.
    """
    if statistic not in STATISTICS:
        raise ParameterError(f"there is no correlation {statistic!r}", hint=f"available: {', '.join(STATISTICS)}")


# Scoring time of metrics, in seconds per 1,000 captions. Sharif et al. 2019 (LCEval), section 7.5.7.

_WARM_UP = 10  # captions


def scoring_time(
    candidates: object,
    references: object = None,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    repeats: int = 5,
) -> Study:
    """Measure the time of each metric on captions that it has not seen before.

    Every metric is timed alone, including tokenization and document frequencies, but not reading files and loading
    resources: a few captions are scored beforehand for that.

    Args:
        candidates: captions of a system, in any supported form.
        references: human captions, in any supported form. In Python, None if the candidates are ``Captions``.
        metrics, settings: as for ``judge``.
        repeats: number of timings per metric.

    Returns:
        One record per metric, seconds per 1,000 captions: wall_s, the median of the repeats, fastest_s and slowest_s;
        cpu_s, the median of the CPU time of all threads together.

    Raises:
        ParameterError: no repeats.
        Others as ``captious.score``, about captions and metrics.
    """
    if repeats < 1:
        raise ParameterError(f"{repeats} is not a number of repeats", hint="time every metric at least once")
    captions = candidates if isinstance(candidates, Captions) else read_captions(candidates, references)
    selection = as_selection(metrics, settings)
    n = len(captions)
    with using_threads(selection.settings.threads):
        n_threads = threads()
    records = []
    signatures: dict[str, str] = {}
    warnings: list[str] = []
    with steps(selection, lambda entry: entry.metric.name) as timed:
        for entry in timed:
            label = next(iter(entry.output_indices)) if len(entry.output_indices) == 1 else entry.metric.name
            one = replace(selection, requested=(entry,))
            score_captions(_unseen(captions.select(np.arange(min(n, _WARM_UP)))), one, name="timing")
            times = []
            for _ in range(repeats):
                fresh = _unseen(captions)
                wall, cpu = time.perf_counter(), time.process_time()
                report = evaluate(fresh, one)
                times.append((time.perf_counter() - wall, time.process_time() - cpu))
            warnings += [warning for warning in report.warnings if warning not in warnings]
            signatures |= {label: result.signature for label, result in report.items()}
            walls, cpus = (np.array(times) / n * 1000).T
            record = {"metric": label, "wall_s": np.median(walls), "fastest_s": walls.min(), "slowest_s": walls.max()}
            record |= {"cpu_s": np.median(cpus)}
            records.append({key: value if key == "metric" else float(value) for key, value in record.items()})
    return Study(
        "timing",
        f"Seconds per 1,000 captions, median of {repeats}: {counted(n, 'caption')}, "
        f"{len(captions.references.texts) / n:.1f} references each, {counted(n_threads, 'thread')}",
        ("metric", "wall_s", "fastest_s", "slowest_s", "cpu_s"),
        records,
        signatures,
        checksums(candidates, references),
        {"captions": n, "repeats": repeats, "threads": n_threads, "machine": platform.machine()},
        warnings=warnings,
    )


def _unseen(captions: Captions) -> Captions:
    """Return a copy of captions without any annotations."""
    old = captions.references
    return Captions(captions.candidates, References(old.ids, old.texts, old.offsets, name=old.name, images=old.images))


# Correlations between metrics, and with human scores, over systems.
#
# Sharif et al. 2020 (WEmbSim), figure 8.4; system-level correlations as in the COCO challenge.

#: measure -> system -> number, or system -> number alone.
HumanScores: TypeAlias = Mapping[str, Mapping[str, float]] | Mapping[str, float]


def system_correlations(
    systems: Mapping[str, object],
    references: object,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    human: HumanScores | str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    statistic: str = "pearson",
    people: str = "",
    match: Match = "all",
    ids: Ids = "exact",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return corpus scores of systems, and correlations between metrics and with human scores, over systems and
    captions.

    Args:
        systems: the captions of three or more systems by name, in any supported form.
        references: human captions, in any supported form.
        metrics, settings: as for ``judge``; the parts of a sum have columns, too.
        human: human scores of the systems, ``{system: number}`` or ``{measure: {system: number}}``, or a JSON file with
            these; or a benchmark of systems with the same names, such as coco-2015 or coco-2015@m1.
        data: the folder of judgment data, for a benchmark; by default ``CAPTIOUS_DATA``.
        statistic: correlation statistic: kendall-tau-b, kendall-tau-c, spearman or pearson.
        people: the system whose captions are some of the references, which are left out for all systems.
        match, ids: as for ``captious.score``; "integer" reads files of image names, such as those of Cui et al. 2018.
        resamples, seed: number of resamples and random seed of the bootstrap interval over systems of the correlations
            with people.

    Returns:
        Records of several kinds with one column per metric and per human measure: "score" of each system; the
        correlation "over systems" of each metric and measure with every other, with its 95% "low" and "high" and "p" of
        no correlation for human measures; and the correlation "over captions", all systems' captions together, of the
        metrics. A correlation with a constant is None. Correlations are of negated scores if lower is better; the
        scores themselves are not negated.

    Raises:
        ParameterError: fewer than three systems, human scores that lack one, or an unknown system.
        ResourceError, CaptionFileError: a file of human scores that is missing or has the wrong format.
        Others as ``captious.score``, about captions and metrics.
    """
    sampling = Sampling(resamples, seed)
    check_statistic(statistic)
    with_parts, sums, _ = split_sums(metrics)
    selection = as_selection(with_parts, settings)
    captions, measures, _, files = _judged(systems, references, human, data, people, match, ids)
    reports = score_each(captions, selection)
    first = next(iter(reports.values()))
    of_systems = {label: np.array([report[label].score for report in reports.values()]) for label in first}
    signed = {label: sign_of(result) * of_systems[label] for label, result in first.items()}
    over_captions = {label: np.concatenate([oriented(report[label]) for report in reports.values()]) for label in first}
    totals = {metric_sum.label: metric_sum.total(signed) for metric_sum in sums}
    over_captions |= {metric_sum.label: metric_sum.total(over_captions) for metric_sum in sums}
    metric_scores = of_systems | totals
    if clash := sorted({*metric_scores} & {*measures}):
        raise ParameterError(f"{clash[0]} is both a metric and a human measure", hint="rename the measure")
    over_systems = signed | totals | measures
    records: list[dict[str, Any]] = [
        {
            "what": "score",
            "of": system,
            **{label: float(values[number]) for label, values in (metric_scores | measures).items()},
        }
        for number, system in enumerate(reports)
    ]
    by_system, system_matrix = correlations(over_systems, statistic)
    by_caption, caption_matrix = correlations(over_captions, statistic)
    for label, row in by_system.items():
        records.append({"what": "over systems", "of": label, **row})
        if label in measures:
            protocol = Protocol("systems", label, statistic, "given", "systems")
            ranking = SystemRanking(protocol, {}, [*reports], measures[label])
            spans = []
            for metric in metric_scores:
                # A resample of one system only has no correlation; it says nothing about the interval.
                resampled = ranking.resampled_mean([over_systems[metric]], sampling)
                ends = sampling.interval(np.where(np.isfinite(resampled), resampled, np.nan))
                spans.append((*ends, ranking.p_of_none(over_systems[metric])))
            for end, values in zip(("low", "high", "p"), zip(*spans, strict=True), strict=True):
                of_metrics = dict(zip(metric_scores, map(defined, values), strict=True))
                records.append({"what": f"over systems, {end}", "of": label, **of_metrics})
    records += [{"what": "over captions", "of": label, **row} for label, row in by_caption.items()]
    n_captions = sum(len(report.ids) for report in reports.values())
    signatures = {label: result.signature for label, result in first.items()}
    signatures |= {metric_sum.label: metric_sum.signature(signatures) for metric_sum in sums}
    return Study(
        "systems",
        f"{counted(len(reports), 'system')}: scores, and {statistic} correlations between metrics"
        + (" and with human scores" if measures else ""),
        ("what", "of", *over_systems),
        records,
        signatures,
        files,
        {"statistic": statistic, **sampling.settings},
        pictures={
            "over-systems": Matrix(
                f"{counted(len(reports), 'system')}, {statistic}", list(over_systems), system_matrix
            ),
            "over-captions": Matrix(
                f"{counted(n_captions, 'caption')}, {statistic}", list(over_captions), caption_matrix
            ),
        }
        | {
            f"{measure}-{metric}": scatter(
                f"{counted(len(reports), 'system')}: {metric}",
                metric_scores[metric],
                over_systems[measure],
                [*reports],
                metric,
                measure,
            )
            for measure in measures
            for metric in metric_scores
        },
        notes=negated(selection.lower_is_better),
        warnings=[*all_warnings(reports.values()), *reports.different_images],
    )


def _judged(
    systems: Mapping[str, object], references: object, human: Any, data: Any, people: str, match: Match, ids: Ids
) -> tuple[dict[str, Captions], dict[str, NDArray[np.float64]], str, dict[str, str]]:
    """Return the captions of systems, their human scores by measure, the name of these, and checksums of files."""
    if len(systems) < 3:
        raise ParameterError(
            f"{counted(len(systems), 'system', 'are')} too few for a correlation",
            hint="give three or more; for two, use captious compare",
        )
    name = os.fspath(human) if isinstance(human, str | os.PathLike) else ""
    of_benchmark = name.partition("@")[0] in benchmark_names.names()
    where = name if of_benchmark else "human scores"
    measures = _measures(_benchmark_measures(name, data) if of_benchmark else human, list(systems), where)
    table = _references(systems, references, people, match, ids)
    captions = {name: read_captions(source, table, match=match, ids=ids) for name, source in systems.items()}
    return captions, measures, where, checksums(references, *systems.values(), *([] if of_benchmark else [human]))


def _references(systems: Mapping[str, object], references: object, people: str, match: Match, ids: Ids) -> References:
    """Return the references, without the captions of the system that stands for people, if there is one."""
    table = read_references(references)
    if not people:
        return table
    if people not in systems:
        raise ParameterError(f"no system is called {people}", hint=f"give {' or '.join(systems)}")
    return _without(read_captions(systems[people], table, match=match, ids=ids))


def _without(captions: Captions) -> References:
    """Return the references without the candidates; of an image that has no others, all."""
    table, rows = captions.references, []
    for text, ends in zip(map(letters, captions.candidates), pairwise(table.offsets.tolist()), strict=True):
        others = [row for row in range(*ends) if letters(table.texts[row]) != text]
        rows.append(others or [*range(*ends)])
    return table.choose(rows)


def _benchmark_measures(human: str, data: str | os.PathLike[str] | None) -> Any:
    """Return the measures of all systems of a benchmark."""
    name, _, measure = human.partition("@")
    benchmark = benchmark_names.get(name)
    protocols = [benchmark.protocol(measure)] if measure else benchmark.protocols
    items = benchmark.content(data_folder(data))
    if any(protocol.of != "systems" or protocol.measure is None for protocol in protocols):
        raise ParameterError(f"{name} does not judge systems", hint="give a benchmark of systems, such as coco-2015")
    return {p.name: {item.name: p.measure(item) for item in items} for p in protocols if p.measure}


def _file_name(system: object) -> str:
    """Return the name of a system without slashes, as in Montreal-Toronto.json."""
    return str(system).replace("/", "-")


def _measures(
    human: HumanScores | str | os.PathLike[str] | None, names: list[str], where: str
) -> dict[str, NDArray[np.float64]]:
    """Return human measures of the systems, in their order; ``where`` names them in errors."""
    if human is None:
        return {}
    if isinstance(human, str | os.PathLike):
        where = str(human)
        help = 'write {"m1": {"system": 0.2}}'
        human = text_as_json(user_text(human, "human scores", help, CaptionFileError), where, help, CaptionFileError)
    if not isinstance(human, Mapping) or not human:
        raise CaptionFileError("these are not human scores", where=where, hint='write {"m1": {"system": 0.2, ...}}')
    by_measure: Any = human if all(isinstance(values, Mapping) for values in human.values()) else {"people": human}
    measures = {}
    for measure, scores_of in by_measure.items():
        values = {_file_name(name): value for name, value in scores_of.items()}
        if missing := [name for name in names if _file_name(name) not in values]:
            raise ParameterError(
                f"{measure} has no score for {', '.join(missing)}",
                where=where,
                hint="systems have the names of their files, as in Google.json, with - for a slash; there are scores "
                f"for {', '.join(values)}",
            )
        try:
            measures[str(measure)] = np.array([values[_file_name(name)] for name in names], np.float64)
        except (OverflowError, TypeError, ValueError) as error:
            raise CaptionFileError(f"{measure}: {error}", where=where, hint="give one number per system") from error
        if not np.isfinite(measures[str(measure)]).all():
            raise CaptionFileError(f"{measure} is not finite", where=where, hint="give one number per system")
    return measures


# Critical failures: images on which a metric ranks systems far worse than another metric does.
#
# Feinglass and Yang 2021 (SMURF), section 4.5. Correlations over all captions hide single large errors.

_DISPARITY = 1.0
_EQUAL = 1e-12  # scores that differ by less


def critical_failures(
    systems: Mapping[str, object],
    references: object,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    human: HumanScores | str | os.PathLike[str] = "coco-2015@m2",
    evaluator: str = "smurf",
    data: str | os.PathLike[str] | None = None,
    match: Match = "all",
    people: str = "",
    ids: Ids = "exact",
) -> Study:
    """Return the share of images on which a metric fails, where another one does not.

    On every image, the scores of the systems' captions are correlated (Pearson) with the human scores of the systems.
    It is a critical failure of a metric if its correlation is smaller than that of the evaluator by more than 1.

    Args:
        systems: the captions of three or more systems by name, in any supported form.
        references: human captions, in any supported form.
        metrics, settings, data: as for ``judge``.
        human: human scores, as for ``system_correlations``, of a single measure.
        evaluator: the metric that the others are compared with, with its parameters.
        match, people, ids: as for ``system_correlations``.

    Returns:
        One record per metric: metric, images (on which both correlations are defined), failures, rate.

    Raises:
        ParameterError: fewer than three systems, or human scores of none or several measures.
        Others as ``system_correlations``.
    """
    selection, single = as_selection(metrics, settings), as_selection(evaluator)
    captions, measures, where, files = _judged(systems, references, human, data, people, match, ids)
    if len(measures) != 1:
        raise ParameterError(
            f"there are several measures: {', '.join(measures)}", where=where, hint="name one, as in coco-2015@m2"
        )
    reports, by_evaluator = ([*score_each(captions, chosen).values()] for chosen in (selection, single))
    (of_people,) = measures.values()

    def agreement(of_systems: list[Report], label: str) -> NDArray[np.float64]:
        """Return the correlation of a metric with people on every image; NaN if it is undefined."""
        scores = np.stack([oriented(report[label]) for report in of_systems])
        x, y = scores - scores.mean(axis=0), (of_people - of_people.mean())[:, None]
        with np.errstate(invalid="ignore"):
            r = (x * y).sum(axis=0) / np.sqrt((x * x).sum(axis=0) * (y * y).sum())
        return np.where(np.ptp(scores, axis=0) > _EQUAL, r, np.nan)

    expected = agreement(by_evaluator, next(iter(by_evaluator[0])))
    records = []
    for label in reports[0]:
        disparity = expected - agreement(reports, label)
        defined = disparity[~np.isnan(disparity)]
        failures = int((defined > _DISPARITY).sum())
        record = {"metric": label, "images": len(defined), "failures": failures}
        records.append({**record, "rate": failures / len(defined) if len(defined) else None})
    return Study(
        "failures",
        f"Critical failures: {', '.join(systems)}, {where}, compared with {evaluator}",
        ("metric", "images", "failures", "rate"),
        records,
        {label: result.signature for report in (reports[0], by_evaluator[0]) for label, result in report.items()},
        files,
        {"evaluator": evaluator, "human scores": where},
        notes=negated([*selection.lower_is_better, *single.lower_is_better]),
        warnings=all_warnings([*reports, *by_evaluator]),
    )
