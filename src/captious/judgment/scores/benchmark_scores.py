"""Scores of judged items: computed here, published, or read from a table of external scores."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data import Captions, References
from captious.errors import CaptionFileError, ParameterError
from captious.files.checksum import checksum
from captious.judgment.human_judgments import CaptionJudgments, HumanJudgments, SystemRanking
from captious.judgment.scores.metric_scores import (
    all_warnings,
    as_selection,
    check_not_constant,
    checked_scores,
    oriented,
    score_captions,
    sign_of,
)
from captious.judgment.scores.metric_sums import MetricSum, split_sums
from captious.judgment.scores.published_scores import (
    PublishedScores,
    content_of,
    fleur_scores,
    kit_scores,
    published_for,
)
from captious.metrics.contract.availability import available
from captious.metrics.contract.catalogue import get, metric_names
from captious.metrics.contract.catalogue import owner as owner_of
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.own_function import FunctionMetric
from captious.metrics.contract.request import Request
from captious.metrics.contract.selection import ALL, MetricLike
from captious.metrics.contract.settings import Settings
from captious.phrases import counted, counted_of
from captious.version import __version__

#: benchmark or protocol -> metric -> scores, in the order of the benchmark's items or by their ids.
ScoreTable: TypeAlias = Mapping[str, Mapping[str, ArrayLike | Mapping[str, float]]]
#: Scores that were computed elsewhere: a table, or a file.
ScoresSource: TypeAlias = ScoreTable | str | os.PathLike[str]
_FORM = 'write {"composite": {"my-metric": [0.1, 0.7, ...]}}, in the order of captious data items'


class ExternalScores(NamedTuple):
    """Scores that were computed elsewhere.

    Args:
        table: scores by name of the benchmark.
        published: scores of captions, in files of other programs.
    """

    table: ScoreTable
    published: Sequence[PublishedScores]


@dataclass(frozen=True)
class ItemScores:
    """A metric's scores of judged items.

    Args:
        label, signature: label and signature of the metric.
        values: float64[n_items], finite and not all the same; negated if lower is better.
        lower_is_better: whether they were negated.
    """

    label: str
    signature: str
    values: NDArray[np.float64]
    lower_is_better: bool = False


def computed_scores(
    judgments: HumanJudgments, metrics: Sequence[MetricLike], settings: Settings, *, lenient: bool
) -> tuple[list[ItemScores], list[str]]:
    """Return scores of metrics in the order requested, then of sums of metrics, and their warnings.

    The parts of a sum are in standard deviations over the judged items.

    Args:
        judgments: the judgments.
        metrics: the requested metrics, if any.
        settings: settings of metrics requested by name.
        lenient: leave out metrics that cannot be computed for systems.
    """
    with_parts, sums, parts = split_sums([*metrics])
    if sums:
        assert isinstance(with_parts, list)
        computed, messages = computed_scores(judgments, with_parts, settings, lenient=lenient)
        totals = [_total(judgments, metric_sum, computed) for metric_sum in sums]
        return [scores for scores in computed if scores.label not in parts] + totals, messages
    if not metrics:
        return [], []
    if not isinstance(judgments, SystemRanking):
        assert isinstance(judgments, CaptionJudgments)
        name = judgments.protocol.full_name
        report = score_captions(judgments.captions, as_selection(metrics, settings), name=name)
        return [
            _checked(judgments, label, result.signature, oriented(result), bool(result.lower_is_better))
            for label, result in report.items()
        ], report.warnings
    scores: list[ItemScores] = []
    warnings: list[str] = []
    for metric in _expanded(judgments, metrics, settings):
        try:
            more, more_warnings = _system_scores(judgments, metric, settings)
        except ParameterError:
            if not lenient:
                raise
            continue
        scores += more
        warnings += more_warnings
    return scores, warnings


def _total(judgments: HumanJudgments, requested: MetricSum, computed: Sequence[ItemScores]) -> ItemScores:
    """Return the scores of a sum."""
    total = requested.total({scores.label: scores.values for scores in computed})
    signature = requested.signature({scores.label: scores.signature for scores in computed})
    return _checked(judgments, requested.label, signature, total)


def same_captions(a: HumanJudgments, b: HumanJudgments) -> bool:
    """Return whether metrics have the same scores for both: the same captions and references, in the same order."""
    if not (isinstance(a, CaptionJudgments) and type(a) is type(b)):
        return False
    one, other = a.captions, b.captions
    return bool(
        one.ids == other.ids
        and one.candidates == other.candidates
        and one.references.texts == other.references.texts
        and one.references.images == other.references.images
        and np.array_equal(one.references.offsets, other.references.offsets)
    )


def _expanded(judgments: SystemRanking, metrics: Sequence[MetricLike], settings: Settings) -> list[MetricLike]:
    """Return the metrics, with "all" replaced by those that can be computed for the systems."""
    expanded: list[MetricLike] = []
    for metric in metrics:
        if not (isinstance(metric, str) and metric.strip().lower() == ALL):
            expanded.append(metric)
        elif judgments.outputs is None:
            expanded += judgments.published
        else:
            expanded += filter(_needs_no_references, available(settings)[0])
    return expanded


def _system_scores(
    judgments: SystemRanking, metric: MetricLike, settings: Settings
) -> tuple[list[ItemScores], list[str]]:
    """Return the published scores of every output of a metric, or means over a system's captions, for functions and
    metrics without references.
    """
    if judgments.outputs is not None and _needs_no_references(metric):
        return _corpus_scores(judgments, judgments.outputs, metric, settings)
    if isinstance(metric, str | BaseMetric):
        if isinstance(metric, BaseMetric):
            outputs = metric.outputs
        else:  # an output alone, even where a metric has its name, too
            name = metric.lower()
            outputs = get(name).outputs if name in metric_names() and name not in get(name).outputs else (name,)
        tail = f"published:{judgments.protocol.benchmark}|captious:{__version__}"
        return [_checked(judgments, label, f"{label}|{tail}", judgments.scores_of(label)) for label in outputs], []
    function = FunctionMetric(metric)
    label = function.name
    if judgments.outputs is None:
        judgments.scores_of(label)  # raises: there are neither captions nor scores
        raise AssertionError
    means = []
    for system, texts in zip(judgments.systems, judgments.outputs, strict=True):
        sentences = [f"sentence {number + 1}" for number in range(len(texts))]
        values = function.values(texts, [[]] * len(texts))
        means.append(checked_scores(values, sentences, where=f"{label} on {system}").mean())
    return [_checked(judgments, label, function.signatures()[0], means)], []


def _needs_no_references(metric: MetricLike) -> bool:
    """Return whether it uses only captions, not even the objects in their images."""
    if isinstance(metric, str):
        owner = owner_of(Request.from_text(metric).name)
        kind: type[BaseMetric] | None = get(owner) if owner is not None else None
    else:
        kind = type(metric) if isinstance(metric, BaseMetric) else None
    return kind is not None and not (kind.needs_references or {"images", "objects"} & kind.declared.keys())


def _corpus_scores(
    judgments: SystemRanking, outputs: Sequence[Sequence[str]], metric: MetricLike, settings: Settings
) -> tuple[list[ItemScores], list[str]]:
    """Return corpus scores of the systems' captions, by a metric that uses only these, and its warnings."""
    selection = as_selection([metric], settings)
    n = len(outputs[0])
    nothing = References(tuple(range(n)), ("",) * n, np.arange(n + 1))
    reports = [
        score_captions(Captions(tuple(texts), nothing), selection, name=system)
        for system, texts in zip(judgments.systems, outputs, strict=True)
    ]
    scores = []
    for label, result in reports[0].items():
        values = [sign_of(result) * report[label].score for report in reports]
        scores.append(_checked(judgments, label, result.signature, values, bool(result.lower_is_better)))
    return scores, all_warnings(reports)


def external_scores(judgments: HumanJudgments, external: ExternalScores) -> list[ItemScores]:
    """Return the external scores for a benchmark.

    Raises:
        ParameterError: scores that are missing, unknown, constant or not finite; a metric has them twice.
    """
    protocol, table = judgments.protocol, external.table
    scores = []
    of_benchmark, of_protocol = table.get(protocol.benchmark, {}), table.get(protocol.full_name, {})
    if twice := of_benchmark.keys() & of_protocol.keys():
        raise ParameterError(
            f"scores for {sorted(twice)[0]} were given twice",
            where=f"under {protocol.benchmark} and under {protocol.full_name}",
            help="give them once",
        )
    published = published_for(judgments, external.published)
    for label, values in {**of_benchmark, **of_protocol, **published}.items():
        if isinstance(values, Mapping):
            if unknown := values.keys() - set(judgments.items):
                raise ParameterError(
                    f"{label} has scores for {counted(len(unknown), 'unknown item')}",
                    where=f"{protocol.full_name}: " + ", ".join(sorted(map(str, unknown))[:3]),
                    help="give scores only for the items that captious data items lists",
                )
            if missing := [item for item in judgments.items if item not in values]:
                raise ParameterError(
                    f"{label}: scores are missing for {counted_of(len(missing), len(judgments.items), 'item')}",
                    where=f"{protocol.full_name}: " + ", ".join(missing[:3]),
                    help="give a score for every item; captious data items lists them",
                )
            values = [values[item] for item in judgments.items]
        checked = _checked(judgments, label, "", values)
        scores.append(replace(checked, signature=f"{label}|given:{checksum(checked.values)}|captious:{__version__}"))
    return scores


def _checked(
    judgments: HumanJudgments, label: str, signature: str, values: ArrayLike, lower_is_better: bool = False
) -> ItemScores:
    """Return scores after a check that they can be correlated."""
    where = f"{label} on {judgments.protocol.full_name}"
    array = checked_scores(values, judgments.items, where=where)
    check_not_constant(array, where=where)
    return ItemScores(label, signature, array, lower_is_better)


def read_scores(scores: ScoresSource | Sequence[ScoresSource] | None) -> ExternalScores:
    """Return external scores, read if they are in files.

    Raises:
        ResourceError, CaptionFileError: a file that cannot be read, or has none of the formats.
        ParameterError: two of them have scores of the same metric for a benchmark.
    """
    if scores is None:
        return ExternalScores({}, [])
    several = scores if isinstance(scores, Sequence) and not isinstance(scores, str) else [scores]
    table: dict[str, dict[str, ArrayLike | Mapping[str, float]]] = {}
    published = []
    for source in several:
        read = _read_file(Path(source)) if isinstance(source, str | os.PathLike) else _as_table(source, "scores")
        if isinstance(read, PublishedScores):
            published.append(read)
            continue
        for benchmark, metrics in read.items():
            of_benchmark = table.setdefault(benchmark, {})
            if twice := sorted(of_benchmark.keys() & metrics.keys()):
                raise ParameterError(
                    f"scores for {twice[0]} were given twice", where=f"for {benchmark}", help="give them once"
                )
            of_benchmark.update(metrics)
    return ExternalScores(table, published)


def _read_file(path: Path) -> ScoreTable | PublishedScores:
    text = content_of(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        of_fleur = fleur_scores(path, text)
        if of_fleur is None:
            raise CaptionFileError(f"not JSON: {error}", where=str(path), help=_FORM) from error
        return of_fleur
    return kit_scores(path, document) or _as_table(document, str(path))


def _as_table(scores: object, where: str) -> ScoreTable:
    if not isinstance(scores, Mapping) or not all(isinstance(metrics, Mapping) for metrics in scores.values()):
        kind = "the mapping" if where == "scores" else "the file"
        raise CaptionFileError(f"{kind} does not contain benchmark scores", where=where, help=_FORM)
    return scores
