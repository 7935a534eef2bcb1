"""Scores of judged captions: computed by metrics and sums of metrics, published, or read from tables."""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.data import Captions
from captious.errors import CaptionFileError, CaptionWarning, ParameterError
from captious.evaluation import Report, Reports, Result, evaluate
from captious.evaluation.checks import FindingWarning
from captious.files import checksum, user_text
from captious.judgment.items import references_table
from captious.judgment.judgments import CaptionJudgments, HumanJudgments, SystemRanking
from captious.metrics.contract import registry
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.functions import FunctionMetric
from captious.metrics.contract.metric import BaseMetric, SetMetric, needs_several_error
from captious.metrics.contract.registry import SUM, Request, get, metric_names
from captious.metrics.contract.selection import ALL, MetricLike, Selection, available, select
from captious.metrics.contract.settings import Settings
from captious.metrics.shared.word_vectors import VectorMetric
from captious.progress import steps
from captious.version import __version__
from captious.words import counted, counted_of, shortened

# Scores of captions from metric names, metric objects and user-defined functions.

_ROUNDING = 1e-12
#: Metrics of a study: one, several, a selection, or None for the metrics of the COCO evaluation that can run here.
Metrics: TypeAlias = MetricLike | Iterable[MetricLike] | Selection | None


def score_captions(captions: Captions, selection: Selection, *, name: str = "captions") -> Report:
    """Return scores of captions, in the order in which metrics are requested; the corpus score of a function is the
    mean.

    Args:
        captions: the captions.
        selection: the result of ``as_selection``.
        name: name of the captions in messages.

    Raises:
        ParameterError: scores that are not numbers, not finite, or not one per caption.
    """
    report = evaluate(captions, selection, system=name)
    items = [str(id) for id in captions.ids]
    for label, result in report.items():
        checked_scores(result.per_caption, items, where=f"{label} on {name}")
    return report


def score_each(captions: Mapping[str, Captions], selection: Selection) -> Reports:
    """Return the reports of systems, with a step of progress for each."""
    with steps([*captions], str) as names:
        return Reports([score_captions(captions[name], selection, name=name) for name in names])


def as_selection(metrics: Metrics, settings: Settings | None = None) -> Selection:
    """Return a selection of metrics and functions.

    Args:
        metrics: one or several, or a selection, which is returned as it is.
        settings: settings of metrics requested by name.

    Raises:
        UnknownNameError: an unknown metric.
        ParameterError: no metric, a duplicate, a metric of several candidates per image, or an unused setting.
    """
    if isinstance(metrics, Selection):
        return metrics
    selection = select(metrics, settings, several=None)
    if of_sets := [item.metric.name for item in selection if isinstance(item.metric, SetMetric)]:
        raise needs_several_error(of_sets[0], "what people judge is")
    return selection


def all_warnings(reports: Iterable[Report]) -> list[CaptionWarning]:
    """Return the warnings of reports, each once."""
    return [*dict.fromkeys(warning for report in reports for warning in report.warnings)]


def oriented(result: Result) -> NDArray[np.float64]:
    """Return caption scores, float64[n], negated if lower is better."""
    return sign_of(result) * result.per_caption


def sign_of(result: Result) -> float:
    """Return the factor that makes higher scores better, 1 or -1."""
    return -1.0 if result.lower_is_better else 1.0


def negated(lower_is_better: Iterable[str]) -> list[str]:
    """Return a sentence about the metrics whose scores were negated, if there are any."""
    labels = list(dict.fromkeys(lower_is_better))
    if not labels:
        return []
    return [
        f"Lower is better for {', '.join(labels)}: the scores were negated, so a positive value means agreement, as "
        "for the other metrics."
    ]


def checked_scores(values: ArrayLike, items: Sequence[str], *, where: str) -> NDArray[np.float64]:
    """Check that there is one finite number for each item, and return them.

    Raises:
        ParameterError: scores that are not numbers, not finite, or of the wrong number.
    """
    array = _one_each(values, items, where=where)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ParameterError(
            f"scores that are not finite: {bad.size:,}",
            where=f"{where}; the first is {array[bad[0]]} for {items[bad[0]]}",
            hint="a metric must give every caption a finite number",
        )
    return array


def check_not_constant(scores: NDArray[np.float64], *, where: str) -> None:
    """Refuse scores that are all equal within rounding.

    Raises:
        ParameterError: names the place and the scores.
    """
    largest = float(np.abs(scores).max(initial=0.0))
    if np.ptp(scores) <= _ROUNDING * max(largest, 1.0):
        value = 0.0 if largest <= _ROUNDING else float(scores[0])
        raise ParameterError(
            f"all scores are {value:g}",
            where=where,
            hint="a constant score cannot be correlated: remove this metric",
        )


def _one_each(values: ArrayLike, items: Sequence[object], *, where: str) -> NDArray[np.float64]:
    try:
        for value in np.asarray(values, object).flat:
            if isinstance(value, str | bool | np.bool_):  # which numpy would read as numbers
                raise TypeError(shortened(value))
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"the scores are not numbers: {error}", where=where, hint="give one number each"
        ) from error
    if array.shape != (len(items),):
        what = counted(len(array), "score") if array.ndim == 1 else f"scores of the shape {array.shape}"
        raise ParameterError(
            f"there are {what} for {counted(len(items), 'item')}",
            where=where,
            hint="give one score for each item, in their order; captious data items lists them",
        )
    return array


# Sums of metrics: ``sum:cider-d+spice``, or with weights, ``sum:2*cider-d+spice``.

_PLUS = re.compile(r"\+(?=[A-Za-z]|[\d.]+\*)")
_WEIGHTED = re.compile(r"(?:([\d.]+)\*)?(.*)", re.DOTALL)


@dataclass(frozen=True)
class MetricSum:
    """A weighted sum of scores, each in standard deviations.

    Args:
        label: the request.
        requests: requests for its parts, with their parameters.
        weights: label of a part -> its weight, in the same order.
    """

    label: str
    requests: tuple[str, ...]
    weights: Mapping[str, float]

    def total(self, scores: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return the sum, float64[n], of scores by metric, float64[n] each; constant scores count as 0.

        Raises:
            ParameterError: a part has no scores of its own, as it has several outputs.
        """
        if missing := [part for part in self.weights if part not in scores]:
            raise ParameterError(
                f"{missing[0]} has several outputs", where=self.label, hint="name one output in a sum, such as bleu-4"
            )
        parts = [(weight, scores[part]) for part, weight in self.weights.items()]
        scaled = np.array([weight * (part - part.mean()) / (part.std() or 1.0) for weight, part in parts])
        return np.asarray(scaled.sum(axis=0), np.float64)

    def signature(self, signatures: Mapping[str, str]) -> str:
        """Return the signature, composed of those of its parts."""
        return f"{self.label}|{' + '.join(signatures[part] for part in self.weights)}"


def as_sum(metric: MetricLike) -> MetricSum | None:
    """Parse a sum such as ``sum:cider-d+spice``; None for other requests.

    Raises:
        ParameterError: a weight that is not a positive number, a metric twice, or a part that is not a request.
    """
    if not (isinstance(metric, str) and metric.strip().lower().startswith(SUM)):
        return None
    text = metric.strip()
    requests: list[str] = []
    weights: dict[str, float] = {}
    for piece in _PLUS.split(text[len(SUM) :]):
        match = _WEIGHTED.fullmatch(piece.strip())
        assert match is not None
        request = Request.from_text(match[2])
        part = request.label if registry.owner_of(request.name) else str(request)
        try:
            weight = float(match[1] or 1)
        except ValueError:
            weight = 0.0
        if not weight > 0:
            raise ParameterError(f"invalid weight {match[1]!r}", where=text, hint="write sum:0.5*cider-d+2*spice")
        if part in weights:
            raise ParameterError(f"{part} is given twice", where=text, hint="give it once, with a weight: 2*cider-d")
        weights[part] = weight
        requests.append(str(request))
    return MetricSum(text, tuple(requests), weights)


def summands(metric: str) -> list[str]:
    """Return the metrics of a sum; for another request, the request itself."""
    metric_sum = as_sum(metric)
    return [metric] if metric_sum is None else [*metric_sum.requests]


def split_sums(metrics: Metrics) -> tuple[Metrics, list[MetricSum], list[str]]:
    """Return the metrics with sums replaced by their parts; the sums; and the names of parts not requested."""
    requests = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(requests, list | tuple):
        return metrics, [], []
    read = [(metric, as_sum(metric)) for metric in requests]
    sums = [metric_sum for _, metric_sum in read if metric_sum]
    if not sums:
        return metrics, [], []
    plain = [metric for metric, metric_sum in read if metric_sum is None]
    requested = {label for metric in plain if isinstance(metric, str) for label in _labels(metric)}
    parts = {
        label: part for metric_sum in sums for label, part in zip(metric_sum.weights, metric_sum.requests, strict=True)
    }
    labels = [label for label in parts if label not in requested]
    return [*plain, *(parts[label] for label in labels)], sums, labels


def _labels(metric: str) -> list[str]:
    """Return the labels of the scores of a request."""
    request = Request.from_text(metric)
    owner = registry.owner_of(request.name)
    return [str(request)] if owner is None else [*request.output_indices(registry.get(owner).outputs)]


# Requirements of metrics that are not part of the package, as the metrics declare them, on any machine.

#: A file in the folder of judgment data, within a request for a metric.
FILE_NAME = re.compile(r"\{([^{}]+)\}")
WORD_VECTORS = "word vectors"


def needs_of_metric(request: str) -> list[str]:
    """Return the files, models and word vectors that a metric, or a part of a sum, needs; may be empty.

    Raises:
        UnknownNameError, ParameterError: an invalid request.
    """
    return [*dict.fromkeys(need for part in summands(request) for need in _needs(part))]


def _needs(request: str) -> Iterator[str]:
    yield from (f"{name} in the folder of data" for name in FILE_NAME.findall(request))
    parsed = Request.from_text(request)
    metric = registry.get(parsed.metric)
    model, vectors = parsed.parameters.get("model"), parsed.parameters.get("vectors")
    yield from metric.default_models if model is None else [model]
    for name, parameter in metric.declared.items():
        if parameter.required and name not in parsed.parameters:
            yield parameter.summary.partition(":")[0]
    if vectors is not None:
        yield f"{WORD_VECTORS} {vectors}"
    elif model is None and _uses_vectors(metric):
        yield WORD_VECTORS


def _uses_vectors(metric: type[BaseMetric]) -> bool:
    """Return whether a metric, or a part of it, requires word vectors."""
    parts = metric.part_classes if issubclass(metric, Combined) else ()
    return issubclass(metric, VectorMetric) or any(map(_uses_vectors, parts))


# Scores of single captions in files of other programs, matched with the captions of a benchmark.
#
# FLEUR's text files have lines ``image file : ...``, ``caption : ...``, ``model score : ...`` and ``our score : ...``.
# CaptionEvalKit's json files have ``per_item`` with, for every id, the caption, its image and the scores. Neither names
# the items of a benchmark as captious does, so scores are matched by image and words of the caption.

#: Names of the scores in FLEUR's program -> their suffixes after the name of the file.
_FLEUR = {"our score": "", "model score": "-model-score"}
_FLEUR_LINE = re.compile(r"(image file|caption|our score|model score) : (.*)")
#: Fields of CaptionEvalKit's items that are not scores of the metric.
_NOT_SCORES = ("id", "score", "scores", "ground_truth_score", "caption", "image", "references")

_Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class PublishedScores:
    """The scores in a file, in its order.

    Args:
        file: its name, for messages.
        by_metric: metric -> scores of captions.
    """

    file: str
    by_metric: Mapping[str, Sequence[tuple[_Key, float]]]


def fleur_scores(file: Path, text: str) -> PublishedScores | None:
    """Read the scores in a text file of FLEUR's program; None for other files.

    The metric is named after the file up to the first "_": ``fleur`` of fleur_composite.txt is the score smoothed by
    the probabilities of digits, ``fleur-model-score`` the number that the model wrote.

    Raises:
        CaptionFileError: a score without a caption, or that is not a number.
    """
    name = file.name.partition(".")[0].partition("_")[0]
    scores: dict[str, list[tuple[_Key, float]]] = defaultdict(list)
    image, caption = "", None
    for number, line in enumerate(text.split("\n"), start=1):
        match = _FLEUR_LINE.fullmatch(line.removesuffix("\r"))
        if match is None:
            continue
        field, value = match[1], match[2]
        if field == "image file":
            image, caption = value, None
        elif field == "caption":
            caption = value
        else:
            if caption is None or not image:
                raise CaptionFileError(
                    "a score without a caption", where=f"{file}, line {number}", hint="download the file again"
                )
            scores[name + _FLEUR[field]].append((_key(image, caption), _number(value, f"{file}, line {number}")))
    return PublishedScores(file.name, scores) if scores else None


def kit_scores(file: Path, document: object) -> PublishedScores | None:
    """Read the scores in a json file of CaptionEvalKit, of single captions with their images; None for other files.

    Raises:
        CaptionFileError: an item without a caption and an image, or scores that are not numbers.
    """
    if not isinstance(document, Mapping):
        return None
    output = document.get("raw_metric_output", document)
    scores: dict[str, list[tuple[_Key, float]]] = defaultdict(list)
    for label, items in _item_objects(output):
        for id, item in items.items():
            where = f"{file}: {id}"
            if not isinstance(item, Mapping) or not {"caption", "image"} <= item.keys():
                raise CaptionFileError(
                    "a score without its caption and image",
                    where=where,
                    hint="use the output of capevalkit benchmark, or give {benchmark: {metric: {id: score}}}",
                )
            key = _key(str(item["image"]), str(item["caption"]))
            for metric, value in _scores_of(item, label or str(document.get("score_name", "score"))).items():
                scores[metric.lower()].append((key, _number(value, where)))
    return PublishedScores(file.name, scores) if scores else None


def _item_objects(output: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the objects that hold items: the metric, if named above them, and the items by id."""
    if not isinstance(output, Mapping):
        return
    if isinstance(output.get("per_item"), Mapping):
        yield "", output["per_item"]
    for name, part in output.items():
        if isinstance(part, Mapping) and isinstance(part.get("per_item"), Mapping):
            yield str(name), part["per_item"]


def _scores_of(item: Mapping[str, Any], metric: str) -> Mapping[str, Any]:
    if isinstance(item.get("scores"), Mapping) and item["scores"]:
        return item["scores"]  # type: ignore[no-any-return]
    scores = {name: value for name, value in item.items() if name not in _NOT_SCORES}
    return scores or {metric: item.get("score")}


def published_for(judgments: HumanJudgments, files: Sequence[PublishedScores]) -> dict[str, NDArray[np.float64]]:
    """Return the scores of a benchmark's items by metric, for the metrics that have one for every item.

    A file that has them all is used alone; otherwise all files with the metric, which may be parts. If a caption is not
    equally frequent in a file and in the benchmark, its mean score is used.
    """
    if not isinstance(judgments, CaptionJudgments):
        return {}
    keys = _keys(judgments)
    by_metric = {}
    for metric in dict.fromkeys(metric for file in files for metric in file.by_metric):
        with_metric = [file.by_metric[metric] for file in files if metric in file.by_metric]
        for scores in (*with_metric, [score for of_file in with_metric for score in of_file]):
            values = _item_scores(keys, scores)
            if values is not None:
                by_metric[metric] = values
                break
    return by_metric


def _item_scores(keys: Sequence[_Key], scores: Sequence[tuple[_Key, float]]) -> NDArray[np.float64] | None:
    """Return a score for every key, or None."""
    of_key: dict[_Key, list[float]] = defaultdict(list)
    for key, value in scores:
        of_key[key].append(value)
    rows: dict[_Key, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    if not rows.keys() <= of_key.keys():
        return None
    values = np.zeros(len(keys))
    for key, rows_of_key in rows.items():
        matching = of_key[key]
        values[rows_of_key] = matching if len(matching) == len(rows_of_key) else np.mean(matching)
    return values


def check_all_used(files: Sequence[PublishedScores], labels: set[str], judged: Sequence[HumanJudgments]) -> None:
    """Refuse files that have all scores of no benchmark.

    Raises:
        ParameterError: names the first of them, and how much of each benchmark it has.
    """
    for file in files:
        if file.by_metric.keys() & labels:
            continue
        having = {key for scores in file.by_metric.values() for key, _ in scores}
        shares = []
        for judgments in judged:
            if isinstance(judgments, CaptionJudgments):
                keys = _keys(judgments)
                n = sum(key in having for key in keys)
                shares.append(f"{counted_of(n, len(keys), 'caption')} of {judgments.protocol.full_name}")
        raise ParameterError(
            f"{file.file} does not have scores for a whole benchmark",
            where=", ".join(shares),
            hint="request the benchmark that the scores are for; if they are in several files, give them all",
        )


#: COCO_val2014_000000391895.jpg, with or without its extension, and 000000391895.jpg; in a folder or not.
_COCO_FILE_NAME = re.compile(r"(?:.*/)?(?:COCO_[a-z]+20\d\d_(\d{12})(?:\.[a-zA-Z]+)?|(\d{12})\.[a-zA-Z]+)")


def _keys(judgments: CaptionJudgments) -> list[_Key]:
    """Return the key of each judged caption."""
    table = judgments.captions
    return [_key(str(image), text) for image, text in zip(table.references.images, table.candidates, strict=True)]


def _key(image: str, caption: str) -> _Key:
    """Return a key for image and caption: a number or a name without its folder, and words."""
    file = _COCO_FILE_NAME.fullmatch(image)
    name = str(int(file[1] or file[2])) if file else image.rpartition("/")[2].partition(".")[0]
    return name, " ".join(caption.split())


def _number(value: object, where: str) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        problem = f"{shortened(value)} is not a score"
        raise CaptionFileError(problem, where=where, hint="download the file again") from error


# Scores of judged items: computed here, published, or read from a table of external scores.

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
) -> tuple[list[ItemScores], list[CaptionWarning]]:
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
        ], [_naming(judgments.protocol.ids, warning) for warning in report.warnings]
    scores: list[ItemScores] = []
    warnings: list[CaptionWarning] = []
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


def _naming(ids: str, warning: CaptionWarning) -> CaptionWarning:
    """Return the warning with a name for its ids, which are those of judged captions."""
    return replace(warning.finding, ids=ids).sentence if isinstance(warning, FindingWarning) else warning


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
) -> tuple[list[ItemScores], list[CaptionWarning]]:
    """Return the published scores of every output of a metric, or means over a system's captions, for functions and
    metrics without references.
    """
    if judgments.outputs is not None and _needs_no_references(metric):
        return _corpus_scores(judgments, judgments.outputs, metric, settings)
    if isinstance(metric, BaseMetric):
        outputs = metric.outputs
    elif isinstance(metric, str):  # an output alone, even where a metric has its name, too
        name = metric.lower()
        outputs = get(name).outputs if name in metric_names() and name not in get(name).outputs else (name,)
    else:
        outputs = (FunctionMetric(metric).name,)
    tail = f"published:{judgments.protocol.benchmark}|captious:{__version__}"
    return [_checked(judgments, label, f"{label}|{tail}", judgments.scores_of(label)) for label in outputs], []


def _needs_no_references(metric: MetricLike) -> bool:
    """Return whether it uses only captions, not even the objects in their images, or is a function."""
    if not isinstance(metric, str | BaseMetric):
        return True
    owner = registry.owner_of(Request.from_text(metric).name) if isinstance(metric, str) else metric.name
    kind = type(metric) if isinstance(metric, BaseMetric) else get(owner) if owner else None
    return kind is not None and not (kind.needs_references or {"images", "objects"} & kind.declared.keys())


def _corpus_scores(
    judgments: SystemRanking, outputs: Sequence[Sequence[str]], metric: MetricLike, settings: Settings
) -> tuple[list[ItemScores], list[CaptionWarning]]:
    """Return corpus scores of the systems' captions, by a metric that uses only these, and its warnings."""
    selection = as_selection([metric], settings)
    sentences = [f"sentence {number}" for number in range(1, len(outputs[0]) + 1)]
    nothing = references_table(sentences, [[]] * len(sentences))
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
            hint="give them once",
        )
    published = published_for(judgments, external.published)
    for label, values in {**of_benchmark, **of_protocol, **published}.items():
        series: Any = values
        if hasattr(series, "to_dict") and [*series.keys()] != [*range(len(series))]:
            values = series.to_dict()  # of pandas, by its index
        if isinstance(values, Mapping):
            of_item = {str(item): value for item, value in values.items()}
            if len(of_item) < len(values):
                where = protocol.full_name
                raise ParameterError(f"{label} has two scores for an item", where=where, hint="give one for each")
            if unknown := of_item.keys() - set(judgments.items):
                raise ParameterError(
                    f"{label} has scores for {counted(len(unknown), 'unknown item')}",
                    where=f"{protocol.full_name}: " + ", ".join(sorted(unknown)[:3]),
                    hint="give scores only for the items that captious data items lists",
                )
            if missing := [item for item in judgments.items if item not in of_item]:
                raise ParameterError(
                    f"{label}: scores are missing for {counted_of(len(missing), len(judgments.items), 'item')}",
                    where=f"{protocol.full_name}: " + ", ".join(missing[:3]),
                    hint="give a score for every item; captious data items lists them",
                )
            values = [of_item[item] for item in judgments.items]
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
                    f"scores for {twice[0]} were given twice", where=f"for {benchmark}", hint="give them once"
                )
            of_benchmark.update(metrics)
    return ExternalScores(table, published)


def _read_file(path: Path) -> ScoreTable | PublishedScores:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(pairs)
        if len(document) < len(pairs):
            repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
            raise CaptionFileError(
                f"{shortened(repeated)} occurs twice", where=str(path), hint="give one score for each"
            )
        return document

    text = user_text(path, "scores", "download the file again", CaptionFileError)
    try:
        document = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        of_fleur = fleur_scores(path, text)
        if of_fleur is None:
            raise CaptionFileError(f"not JSON: {error}", where=str(path), hint=_FORM) from error
        return of_fleur
    return kit_scores(path, document) or _as_table(document, str(path))


def _as_table(scores: object, where: str) -> ScoreTable:
    if not isinstance(scores, Mapping) or not all(isinstance(metrics, Mapping) for metrics in scores.values()):
        kind = "the mapping" if where == "scores" else "the file"
        raise CaptionFileError(f"{kind} does not contain benchmark scores", where=where, hint=_FORM)
    return scores
