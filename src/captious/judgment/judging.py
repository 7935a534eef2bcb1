"""``judge``: agreement of metrics with human judgments, on any number of benchmarks."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data import Captions, References
from captious.errors import CaptionFileError, ParameterError, ResourceError, UnknownNameError
from captious.evaluation import Report
from captious.evaluation.caption_warnings import few_images
from captious.evaluation.resampling import DEFAULT_SEED, Sampling, bootstrap_p_value, holm, ranks
from captious.judgment.agreement import Agreement, Judgment, Verdict
from captious.judgment.benchmarks import registry
from captious.judgment.human_judgments import CaptionPairs, HumanJudgments, RatedCaptions, SystemRanking
from captious.judgment.judgment_files import data_folder, own_json
from captious.judgment.metric_scores import (
    MetricLike,
    all_warnings,
    as_selection,
    checked_scores,
    function_name,
    oriented,
    refuse_constant,
    score_captions,
    sign_of,
)
from captious.judgment.own_judgments import as_own, load_own
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.registry import get, names
from captious.metrics.contract.registry import owner as owner_of
from captious.metrics.contract.selection import ALL, all_here, check_used, coco_here
from captious.metrics.contract.settings import Settings, accepted
from captious.metrics.contract.specification import Specification
from captious.progress import steps
from captious.version import __version__

__all__ = ["TESTS", "judge", "load_judgments"]

#: How the difference of two metrics can be tested.
TESTS = ("permutation", "bootstrap")

#: benchmark or protocol -> metric -> scores, in the order of the benchmark's items or by their ids.
ScoreTable: TypeAlias = Mapping[str, Mapping[str, ArrayLike | Mapping[str, float]]]

_PERMUTATIONS_PER_PAIR = 50


@dataclass(frozen=True)
class _Scores:
    label: str
    signature: str
    values: NDArray[np.float64]  # negated where lower is better
    lower_is_better: bool = False


def judge(
    benchmarks: str | os.PathLike[str] | HumanJudgments | Iterable[str | os.PathLike[str] | HumanJudgments],
    metrics: MetricLike | Iterable[MetricLike] | None = None,
    *,
    settings: Settings | None = None,
    scores: ScoreTable | str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    compare: bool = False,
    test: str = "permutation",
    resamples: int = 1000,
    seed: int = DEFAULT_SEED,
) -> Judgment:
    """Measure how well metrics agree with human judgments.

    Scores of an output of which lower is better are negated first, so that larger values mean more agreement for every
    metric; ``Agreement.lower_is_better`` says so.

    Args:
        benchmarks: names ("composite"), names with a protocol ("flickr8k-expert@yi2020"), files of your own judgments
            ("mine.jsonl"), files with a statistic ("mine.jsonl@kendall-tau-b"), or judgments; "all" for the first
            protocol of every benchmark whose data are there.
        metrics: names, metrics, or functions (candidates, references) -> scores; "all" for every metric that can run
            here, None for those of the COCO evaluation that can (with ``scores``, for no others). A benchmark of
            systems that was not requested by name leaves out metrics that cannot be computed for it.
        settings: what applies to all metrics that are requested by name.
        scores: scores computed elsewhere, or a JSON file of them: ``{benchmark: {metric: scores}}``, with scores as a
            list in the order of ``captious data items``, or as ``{id: score}``. Higher must be better. On the command
            line, only these are judged unless metrics are requested.
        data: the folder of judgment data; by default the one that ``CAPTIOUS_DATA`` names.
        compare: test the differences between all pairs of metrics, and rank the metrics.
        test: how to compare: "permutation" exchanges the scores of two metrics on random halves of the images;
            "bootstrap" compares them in the resamples of the intervals, which takes much less time for many metrics.
        resamples: number of bootstrap resamples and of permutations; permutation tests use at least 50 permutations
            per pair of metrics.
        seed: random seed of both.

    Raises:
        UnknownNameError: no such benchmark, protocol, metric or test.
        ParameterError: nothing to judge; protocols that cannot share a table; scores that are constant, not
            finite or not as many as there are items.
        ResourceError, CaptionFileError: data that are missing or cannot be read.
    """
    if isinstance(benchmarks, str | os.PathLike | HumanJudgments):
        benchmarks = [benchmarks]
    if isinstance(metrics, str | Metric) or callable(metrics):
        metrics = [metrics]
    warnings: list[str] = []
    if metrics is None:
        metrics, left_out = coco_here() if scores is None else ([], [])
        warnings += left_out
    sampling = Sampling(resamples, seed)
    if test not in TESTS:
        raise UnknownNameError(f"there is no test {test!r}", help=f"give {' or '.join(TESTS)}")
    asked, given = list(metrics), _score_table(scores)
    judgments: list[HumanJudgments] = []
    unnamed: list[HumanJudgments] = []
    for each in benchmarks:
        if isinstance(each, str) and each.strip().lower() == ALL:
            unnamed, missing = _every_benchmark(data)
            judgments += unnamed
            warnings += missing
        else:
            judgments.append(each if isinstance(each, HumanJudgments) else load_judgments(each, data))
    _check(judgments, asked, given)
    settings = Settings() if settings is None else settings
    if not asked:
        check_used(settings, ())
    scored = []  # all before any is tested: errors should come to light early
    for each in judgments:
        by_name = not any(each is other for other in unnamed)
        computed, found_warnings = _scored(each, asked, settings, lenient=not by_name)
        warnings += found_warnings
        found = computed + _given(each, given)
        if repeated := _first_repeated([score.label for score in found]):
            raise ParameterError(f"{repeated} is requested twice", where=each.protocol.full_name, help="name it once")
        if not found and not by_name:
            warnings.append(f"{each.protocol.benchmark} was skipped: none of the metrics can be computed for it.")
            continue
        if not found:
            raise ParameterError(
                "no metrics were requested", where=each.protocol.full_name, help="give the scores of at least one"
            )
        warnings += few_images(each.n_units)
        scored.append((each, found))
    what = "differences and intervals" if compare else "intervals"
    with steps(scored, lambda item: f"{item[0].protocol.full_name}: {what}") as tested:
        verdicts = [_verdict(each, found, test if compare else None, sampling) for each, found in tested]
    return Judgment(verdicts, sampling, [*dict.fromkeys(warnings)], test=test if compare else None)


def load_judgments(benchmark: str | os.PathLike[str], data: str | os.PathLike[str] | None = None) -> HumanJudgments:
    """The judgments of a benchmark, or of a file of your own; raises as ``judge`` does."""
    own = as_own(os.fspath(benchmark))
    if own is not None:
        return load_own(*own)
    chosen = registry.protocol(str(benchmark))
    return registry.get(chosen.benchmark).judgments(chosen, data_folder(data))


def _every_benchmark(data: str | os.PathLike[str] | None) -> tuple[list[HumanJudgments], list[str]]:
    """The first protocol of every benchmark whose files are there, and a sentence about the others."""
    folder = data_folder(data)
    found, missing = [], []
    for name in registry.names():
        try:
            found.append(load_judgments(name, folder.folder))
        except ResourceError:
            missing.append(name)
    if not found:
        raise ResourceError(
            "there are no judgments", where=str(folder.folder), help="captious data list names their sources"
        )
    return found, [f"benchmarks skipped because their files are missing: {', '.join(missing)}"] if missing else []


def _check(judgments: Sequence[HumanJudgments], asked: Sequence[object], given: ScoreTable) -> None:
    if not judgments:
        raise ParameterError("no benchmarks were requested", help="name one, such as composite")
    if not asked and not given:
        raise ParameterError("no metrics were requested", help="name one, such as -m cider-d, or give scores")
    seen: dict[str, HumanJudgments] = {}
    for each in judgments:
        first = seen.setdefault(each.protocol.benchmark, each)
        before, current = first.protocol, each.protocol
        if before is not current and (before.full_name == current.full_name or first.data != each.data):
            raise ParameterError(
                f"two benchmarks are called {current.benchmark}",
                help="rename the judgment file, or judge them one at a time",
            )
        if before.ratings != current.ratings:
            raise ParameterError(
                f"{before.full_name} and {current.full_name} cannot share a table",
                where=f"their ratings are combined differently ({before.ratings}, {current.ratings}): "
                "the figures look alike, but are not comparable",
                help="judge them one at a time",
            )
    names = [each.protocol.full_name for each in judgments]
    if repeated := _first_repeated(names):
        raise ParameterError(f"{repeated} is requested twice", help="name each benchmark once")
    benchmarks = {each.protocol.benchmark for each in judgments} | set(names)
    if strangers := given.keys() - benchmarks:
        raise ParameterError(
            f"scores were given for {sorted(strangers)[0]}, which is not among the requested benchmarks",
            help=f"the keys are {', '.join(sorted(benchmarks))}",
        )


def _first_repeated(names: Sequence[str]) -> str | None:
    """The first name that occurs again."""
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


def _scored(
    judgments: HumanJudgments, asked: Sequence[MetricLike], settings: Settings, *, lenient: bool = False
) -> tuple[list[_Scores], list[str]]:
    """Scores of the metrics that are computed here, in the order requested, and their warnings.

    Args:
        judgments: the judgments.
        asked: what was requested.
        settings: for metrics that are asked for by name.
        lenient: leave out metrics that cannot be computed for systems.
    """
    if not asked:
        return [], []
    if isinstance(judgments, SystemRanking):
        return _of_all_systems(judgments, asked, settings, lenient)
    assert isinstance(judgments, RatedCaptions | CaptionPairs)
    name = judgments.protocol.full_name
    report = score_captions(judgments.captions, as_selection(asked, settings, name=name), name=name)
    scores = [_checked(judgments, label, result.signature, oriented(result)) for label, result in report.items()]
    return _directed(scores, report), report.warnings


def _of_all_systems(
    judgments: SystemRanking, asked: Sequence[MetricLike], settings: Settings, lenient: bool
) -> tuple[list[_Scores], list[str]]:
    """Scores of a benchmark of systems, and their warnings."""
    scores: list[_Scores] = []
    warnings: list[str] = []
    for item in asked:
        if isinstance(item, str) and item.strip().lower() == ALL:
            names = [*judgments.published] if judgments.outputs is None else all_here(settings)[0]
            items: list[MetricLike] = [
                name for name in names if judgments.outputs is None or _needs_no_references(name)
            ]
        else:
            items = [item]
        for each in items:
            try:
                found, some = _of_systems(judgments, each, settings)
            except ParameterError:
                if lenient:
                    continue
                raise
            scores += found
            warnings += some
    return scores, warnings


def _of_systems(judgments: SystemRanking, item: MetricLike, settings: Settings) -> tuple[list[_Scores], list[str]]:
    """Published scores, of every output of a metric; of a metric that needs no references or of a function, means over
    a system's captions."""
    if judgments.outputs is not None and _needs_no_references(item):
        return _of_outputs(judgments, judgments.outputs, item, settings)
    if isinstance(item, str | Metric):
        if isinstance(item, Metric):
            outputs = item.outputs
        else:  # an output alone, even where a metric has its name, too
            name = item.lower()
            outputs = get(name).outputs if name in names() and name not in get(name).outputs else (name,)
        tail = f"published:{judgments.protocol.benchmark}|captious:{__version__}"
        return [_checked(judgments, label, f"{label}|{tail}", judgments.scores_of(label)) for label in outputs], []
    label = function_name(item)
    if judgments.outputs is None:
        judgments.scores_of(label)  # raises: there are neither captions nor scores
        raise AssertionError
    means = []
    for system, texts in zip(judgments.systems, judgments.outputs, strict=True):
        sentences = [f"sentence {number + 1}" for number in range(len(texts))]
        scores = item(list(texts), [[]] * len(texts))
        means.append(checked_scores(scores, sentences, where=f"{label} on {system}").mean())
    return [_checked(judgments, label, f"{label}|function|captious:{__version__}", means)], []


def _needs_no_references(item: MetricLike) -> bool:
    """Whether it looks at captions alone, not even at what is in their images."""
    if isinstance(item, str):
        name = Specification.from_text(item).name
        owner = owner_of(name)
        metric: type[Metric] | None = get(owner) if owner is not None else None
    else:
        metric = type(item) if isinstance(item, Metric) else None
    return metric is not None and not (metric.needs_references or {"images", "objects"} & accepted(metric).keys())


def _of_outputs(
    judgments: SystemRanking, outputs: Sequence[Sequence[str]], item: MetricLike, settings: Settings
) -> tuple[list[_Scores], list[str]]:
    """Corpus scores of the systems' captions, by a metric that looks at nothing else, and its warnings."""
    selection = as_selection([item], settings)
    n = len(outputs[0])
    nothing = References(tuple(range(n)), ("",) * n, np.arange(n + 1))
    reports = [
        score_captions(Captions(tuple(texts), nothing), selection, name=system)
        for system, texts in zip(judgments.systems, outputs, strict=True)
    ]
    scores = [
        _checked(
            judgments, label, result.signature, [sign_of(report[label]) * report[label].score for report in reports]
        )
        for label, result in reports[0].items()
    ]
    return _directed(scores, reports[0]), all_warnings(reports)


def _directed(scores: Sequence[_Scores], report: Report) -> list[_Scores]:
    """The scores with what the report says about the direction of their metrics."""
    return [replace(each, lower_is_better=bool(report[each.label].lower_is_better)) for each in scores]


def _given(judgments: HumanJudgments, table: ScoreTable) -> list[_Scores]:
    """The scores given for this benchmark."""
    protocol = judgments.protocol
    found = []
    of_benchmark, of_protocol = table.get(protocol.benchmark, {}), table.get(protocol.full_name, {})
    if twice := of_benchmark.keys() & of_protocol.keys():
        raise ParameterError(
            f"scores for {sorted(twice)[0]} were given twice",
            where=f"under {protocol.benchmark} and under {protocol.full_name}",
            help="give them once",
        )
    for label, values in {**of_benchmark, **of_protocol}.items():
        if isinstance(values, Mapping):
            if strangers := values.keys() - set(judgments.items):
                raise ParameterError(
                    f"{label} has scores for {len(strangers):,} unknown item{'s' if len(strangers) > 1 else ''}",
                    where=f"{protocol.full_name}: " + ", ".join(sorted(map(str, strangers))[:3]),
                    help="give scores only for the items that captious data items lists",
                )
            if missing := [item for item in judgments.items if item not in values]:
                raise ParameterError(
                    f"{label}: scores are missing for {len(missing):,} of {len(judgments.items):,} items",
                    where=f"{protocol.full_name}: " + ", ".join(missing[:3]),
                    help="give a score for every item; captious data items lists them",
                )
            values = [values[item] for item in judgments.items]
        score = _checked(judgments, label, "", values)
        crc = zlib.crc32(score.values.tobytes())
        found.append(replace(score, signature=f"{label}|given:{crc:08x}|captious:{__version__}"))
    return found


def _checked(judgments: HumanJudgments, label: str, signature: str, values: ArrayLike) -> _Scores:
    """Scores that can be correlated with anything."""
    where = f"{label} on {judgments.protocol.full_name}"
    array = checked_scores(values, judgments.items, where=where)
    refuse_constant(array, where=where)
    return _Scores(label, signature, array)


def _verdict(judgments: HumanJudgments, found: Sequence[_Scores], test: str | None, sampling: Sampling) -> Verdict:
    values: dict[str, float] = {}
    agreements: dict[str, Agreement] = {}
    p_values: dict[tuple[str, str], float] = {}
    parts = {}
    for score in found:
        of_parts = judgments.values(score.values)
        if not np.isfinite(of_parts).all():
            raise ParameterError(
                f"the {judgments.protocol.statistic} of {score.label} is undefined for these judgments",
                where=judgments.protocol.full_name,
                help="a constant score cannot be correlated: scores or judgments are all equal, in a part or overall",
            )
        values[score.label] = float(of_parts.mean())
        parts[score.label] = dict(zip(judgments.part_names, of_parts.tolist(), strict=False))
    resampled = {score.label: judgments.resampled_mean([score.values], sampling) for score in found}
    if test is not None:
        pairs = list(combinations(found, 2))
        # The smallest p of n permutations is 1 / (n + 1), and Holm multiplies it by the number of pairs.
        permutations = max(sampling.resamples, _PERMUTATIONS_PER_PAIR * len(pairs))
        if test == "bootstrap" and not isinstance(judgments, SystemRanking):
            raw = [
                bootstrap_p_value(
                    values[a.label] - values[b.label],
                    resampled[a.label] - resampled[b.label],
                    scale=max(abs(values[a.label]), abs(values[b.label])),
                    method="normal",
                )
                for a, b in pairs
            ]
        else:
            raw = [float(judgments.difference(a.values, b.values, permutations, sampling.seed)) for a, b in pairs]
        p_values = {(a.label, b.label): p for (a, b), p in zip(pairs, holm(raw), strict=True)}
    placed = ranks(values, p_values, 1 - sampling.level) if test is not None else {}
    for score in found:
        agreements[score.label] = Agreement(
            score.label,
            values[score.label],
            sampling.interval(resampled[score.label]),
            placed.get(score.label),
            score.signature,
            parts[score.label],
            score.lower_is_better,
        )
    return Verdict(judgments.protocol, judgments.n, dict(judgments.data), agreements, p_values)


def _score_table(scores: ScoreTable | str | os.PathLike[str] | None) -> ScoreTable:
    """The scores that were given, read if they are in a file."""
    if scores is None:
        return {}
    where = "scores"
    help = 'write {"composite": {"my-metric": [0.1, 0.7, ...]}}, in the order of captious data items'
    if isinstance(scores, str | os.PathLike):
        where = str(scores)
        scores = own_json(scores, "scores", help)
    if not isinstance(scores, Mapping) or not all(isinstance(each, Mapping) for each in scores.values()):
        kind = "the file does not" if where != "scores" else "the mapping does not"
        raise CaptionFileError(f"{kind} contain benchmark scores", where=where, help=help)
    return scores
