"""Correlations between metrics, and with human scores, over systems.

Sharif et al. 2020 (WEmbSim), figure 8.4; system-level correlations as in the COCO challenge.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import read_captions, read_references, same_images
from captious.errors import CaptionFileError, ParameterError
from captious.evaluation import Report
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling
from captious.files.decompression import user_text
from captious.judgment.benchmarks import benchmark_names
from captious.judgment.correlation import Points, correlation, p_of_none
from captious.judgment.files.judgment_files import data_folder
from captious.judgment.scores.metric_scores import Metrics, all_warnings, as_selection, negated, score_captions, sign_of
from captious.judgment.scores.metric_sums import split_sums
from captious.judgment.studies.metric_correlations import check_statistic, correlations
from captious.judgment.studies.shared.study_sources import checksums
from captious.judgment.study_result import Matrix, Study
from captious.metrics.contract.settings import Settings
from captious.phrases import counted
from captious.progress import steps
from captious.random_seed import DEFAULT_SEED
from captious.resources.text_files import text_as_json
from captious.results.pictures import scatter

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
    subset: bool = False,
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
        subset: score the images that both sides have.
        resamples, seed: number of resamples and random seed of the bootstrap interval over systems of the correlations
            with people.

    Returns:
        Records of several kinds with one column per metric and per human measure: "score" of each system; the
        correlation "over systems" of each metric and measure with every other, with its 95% "low" and "high" and "p" of
        no correlation for human measures; and the correlation "over captions", all systems' captions together, of the
        metrics. A correlation with a constant is None. Correlations are of negated scores if lower is better; the
        scores themselves are not negated.

    Raises:
        ParameterError: fewer than three systems, or human scores that lack one.
        ResourceError, CaptionFileError: a file of human scores that is missing or has the wrong format.
        Others as ``captious.score``, about captions and metrics.
    """
    sampling = Sampling(resamples, seed)
    check_statistic(statistic)
    if len(systems) < 3:
        raise ParameterError(
            f"{counted(len(systems), 'system', 'are')} too few for a correlation",
            help="give three or more; for two, use captious compare",
        )
    where = str(human) if _names_a_benchmark(human) else "human scores"
    measures = _measures(_benchmark_measures(human, data), list(systems), where)
    with_parts, sums, _ = split_sums(metrics)
    selection = as_selection(with_parts, settings)
    table, files = read_references(references), checksums(references)
    with steps([*systems], str) as names:
        reports = {
            name: score_captions(read_captions(systems[name], table, subset=subset), selection, name=name)
            for name in names
        }
    first = next(iter(reports.values()))
    of_systems, of_captions = _points(reports.values())
    signs = {label: sign_of(result) for label, result in first.items()}  # correlations are of agreement
    signed = {label: sign * of_systems[label] for label, sign in signs.items()}
    over_captions = {label: sign * of_captions[label] for label, sign in signs.items()}
    totals = {metric_sum.label: metric_sum.total(signed) for metric_sum in sums}
    over_captions |= {metric_sum.label: metric_sum.total(over_captions) for metric_sum in sums}
    metric_scores = of_systems | totals
    if clash := sorted({*metric_scores} & {*measures}):
        raise ParameterError(f"{clash[0]} is both a metric and a human measure", help="rename the measure")
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
            records += _ends(label, measures[label], {m: over_systems[m] for m in metric_scores}, statistic, sampling)
    records += [{"what": "over captions", "of": label, **row} for label, row in by_caption.items()]
    warnings = all_warnings(reports.values())
    if not all(same_images(report.ids, first.ids) for report in reports.values()):
        warnings.append("the systems were scored on different images, so their scores cannot be compared.")
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
        {**files, **checksums(*systems.values(), *([] if _names_a_benchmark(human) else [human]))},
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
        warnings=warnings,
    )


def _points(reports: Collection[Report]) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
    """Return scores of systems by metric, and of all systems' captions together."""
    metrics = list(next(iter(reports)))
    of_systems = {label: np.array([report[label].score for report in reports]) for label in metrics}
    of_captions = {label: np.concatenate([report[label].per_caption for report in reports]) for label in metrics}
    return of_systems, of_captions


def _ends(
    measure: str,
    human: NDArray[np.float64],
    scores: Mapping[str, NDArray[np.float64]],
    statistic: str,
    sampling: Sampling,
) -> Iterator[dict[str, Any]]:
    """Return three records of a human measure by metric: both ends of its intervals, and p of no correlation."""
    spans = {metric: _interval(human, values, statistic, sampling) for metric, values in scores.items()}
    for number, end in enumerate(("low", "high")):
        ends = {metric: span[number] if span else None for metric, span in spans.items()}
        yield {"what": f"over systems, {end}", "of": measure, **ends}
    of_none = {metric: p_of_none(statistic, values, human) for metric, values in scores.items()}
    yield {"what": "over systems, p", "of": measure, **{k: None if np.isnan(p) else p for k, p in of_none.items()}}


def _interval(
    human: NDArray[np.float64], scores: NDArray[np.float64], statistic: str, sampling: Sampling
) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval over systems, or None if the correlation is undefined."""
    if np.isnan(correlation(statistic, scores, human)):
        return None
    n = len(human)
    points = Points([np.array([value]) for value in human], np.arange(n), statistic)
    counts = np.random.default_rng(sampling.seed).multinomial(n, np.full(n, 1 / n), sampling.resamples).astype(np.int32)
    resampled = points.resampled(scores, counts)
    # A resample of one system only has no correlation; it says nothing about the interval.
    defined = resampled[np.isfinite(resampled)]
    if not defined.size:
        return None
    return sampling.interval(defined)


def _names_a_benchmark(human: object) -> bool:
    return isinstance(human, str | os.PathLike) and os.fspath(human).partition("@")[0] in benchmark_names.names()


def _benchmark_measures(human: HumanScores | str | os.PathLike[str] | None, data: str | os.PathLike[str] | None) -> Any:
    """Return the measures of all systems of a benchmark, if it is one; otherwise the argument."""
    if not _names_a_benchmark(human):
        return human
    name, _, measure = os.fspath(human).partition("@")  # type: ignore[arg-type]
    benchmark = benchmark_names.get(name)
    protocols = [benchmark.protocol(measure)] if measure else benchmark.protocols
    items = benchmark.content(data_folder(data))
    if any(protocol.of != "systems" or protocol.measure is None for protocol in protocols):
        raise ParameterError(f"{name} does not judge systems", help="give a benchmark of systems, such as coco-2015")
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
        raise CaptionFileError("these are not human scores", where=where, help='write {"m1": {"system": 0.2, ...}}')
    by_measure: Any = human if all(isinstance(values, Mapping) for values in human.values()) else {"people": human}
    measures = {}
    for measure, scores_of in by_measure.items():
        values = {_file_name(name): value for name, value in scores_of.items()}
        if missing := [name for name in names if _file_name(name) not in values]:
            raise ParameterError(
                f"{measure} has no score for {', '.join(missing)}",
                where=where,
                help="systems have the names of their files, as in Google.json, with - for a slash; there are scores "
                f"for {', '.join(values)}",
            )
        try:
            measures[str(measure)] = np.array([values[_file_name(name)] for name in names], np.float64)
        except (OverflowError, TypeError, ValueError) as error:
            raise CaptionFileError(f"{measure}: {error}", where=where, help="give one number per system") from error
        if not np.isfinite(measures[str(measure)]).all():
            raise CaptionFileError(f"{measure} is not finite", where=where, help="give one number per system")
    return measures
