"""``judge``: agreement of metrics with human judgments, on any number of benchmarks; and files derived from them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from captious.data import read_references
from captious.errors import CaptionWarning, ParameterError, ResourceError, UnknownNameError, requesting
from captious.evaluation.checks import few_images_warning, warnings_by_system
from captious.files import whole_file
from captious.judgment.benchmarks import names as benchmark_names
from captious.judgment.files import as_own, data_folder, load_own
from captious.judgment.judgments import PEOPLE, HumanJudgments, RatedCaptions, SystemRanking
from captious.judgment.results import Agreement, BenchmarkResult, Judgment
from captious.judgment.scores import (
    ExternalScores,
    ItemScores,
    ScoresSource,
    check_all_used,
    computed_scores,
    external_scores,
    read_scores,
    same_captions,
)
from captious.learned.training.examples import make_examples, read_ids, write_examples
from captious.metrics.contract import registry
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.selection import ALL, MetricLike, check_used, coco_available, names_metric
from captious.metrics.contract.settings import Settings, as_settings
from captious.plugins import answers_other_keywords
from captious.progress import steps
from captious.statistics import DEFAULT_RESAMPLES, Sampling, bootstrap_p_value, holm, ranks
from captious.tables import Curves, scatter
from captious.words import DEFAULT_SEED

# ``judge``.

MetricTest: TypeAlias = Literal["permutation", "bootstrap"]
#: The tests of the difference of two metrics.
TESTS: tuple[MetricTest, ...] = get_args(MetricTest)

_PERMUTATIONS_PER_PAIR = 50


@answers_other_keywords
def judge(
    benchmarks: str | os.PathLike[str] | HumanJudgments | Iterable[str | os.PathLike[str] | HumanJudgments],
    metrics: MetricLike | Iterable[MetricLike] | None = None,
    *,
    settings: Settings | None = None,
    scores: ScoresSource | Sequence[ScoresSource] | None = None,
    data: str | os.PathLike[str] | None = None,
    compare: bool = False,
    test: MetricTest = "permutation",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Judgment:
    """Measure how well metrics agree with human judgments.

    Scores are negated if lower is better, so that larger values mean more agreement for every metric; see
    ``Agreement.lower_is_better``.

    Args:
        benchmarks: names ("composite"), names with a protocol ("flickr8k-expert@yi2020"), files of your own judgments
            ("mine.jsonl"), files with a statistic ("mine.jsonl@kendall-tau-b"), or judgments; "all" for the first
            protocol of every benchmark whose data are available.
        metrics: names, metrics, or functions, as for ``score``; "all" for every available metric, None for those of the
            COCO evaluation (none with ``scores``). For a benchmark of systems that was not requested by name, metrics
            that cannot be computed are left out.
        settings: settings of all metrics requested by name.
        scores: JSON file of scores computed elsewhere, ``{benchmark: {metric: scores}}``, with scores as a list in the
            order of ``captious data items``, or as ``{id: score}``; a text file of FLEUR, or JSON of CaptionEvalKit.
            In Python, also such a mapping, or a list of several. Higher must be better. Only these are judged unless
            metrics are requested.
        data: the folder of judgment data; by default ``CAPTIOUS_DATA``.
        compare: test the differences between all pairs of metrics, and rank the metrics.
        test: how to compare: "permutation" exchanges the scores of two metrics on each image with probability one half;
            "bootstrap" compares them in the resamples of the intervals, which is much faster for many metrics.
        resamples: number of bootstrap resamples and of permutations; permutation tests use at least 50 permutations
            per pair of metrics.
        seed: random seed of both.

    Raises:
        UnknownNameError: an unknown benchmark, protocol, metric or test.
        ParameterError: nothing to judge; protocols that cannot share a table; scores that are constant, not finite, or
            of the wrong number.
        ResourceError, CaptionFileError: missing or unreadable data.
    """
    if isinstance(benchmarks, str | os.PathLike | HumanJudgments):
        benchmarks = [benchmarks]
    if isinstance(metrics, str | BaseMetric) or callable(metrics):
        metrics = [metrics]
    warnings: list[CaptionWarning] = []
    if metrics is None:
        metrics, left_out = coco_available() if scores is None else ([], [])
        warnings += left_out
    sampling = Sampling(resamples, seed)
    if test not in TESTS:
        raise UnknownNameError(f"there is no test {test!r}", hint=f"give {' or '.join(TESTS)}")
    metrics, external = list(metrics), read_scores(scores)
    requested: list[HumanJudgments] = []
    unnamed: set[int] = set()  # positions of those that only "all" stands for
    for benchmark in benchmarks:
        if names_metric(benchmark) and benchmark not in benchmark_names.names():
            raise ParameterError(
                f"{benchmark} is a metric: the benchmarks come first, then the metrics",
                hint="write judge(benchmarks, metrics)",
            )
        if isinstance(benchmark, str) and benchmark.strip().lower() == ALL:
            every, missing = _every_benchmark(data)
            unnamed |= set(range(len(requested), len(requested) + len(every)))
            requested += every
            warnings += missing
        else:
            requested.append(benchmark if isinstance(benchmark, HumanJudgments) else load_judgments(benchmark, data))
    _check(requested, metrics, external)
    if PEOPLE in metrics and not registry.owner_of(PEOPLE):
        raise ParameterError(
            "people are not a metric",
            hint="leave them out: where a benchmark has several raters, their agreement is a row below the metrics",
        )
    settings = as_settings(settings)
    if not metrics:
        check_used(settings, ())
    scored = []  # all before any is tested: errors should come to light early
    computed: list[ItemScores] = []
    computed_warnings: list[CaptionWarning] = []
    by_benchmark: dict[str, list[CaptionWarning]] = {}
    for number, judgments in enumerate(requested):
        name = judgments.protocol.full_name
        if not (number and same_captions(requested[number - 1], judgments)):
            computed, computed_warnings = computed_scores(judgments, metrics, settings, lenient=number in unnamed)
        item_scores = computed + external_scores(judgments, external)
        if repeated := _first_repeated([metric.label for metric in item_scores]):
            raise ParameterError(f"{repeated} is requested twice", where=name, hint="name it once")
        if item_scores:
            by_benchmark[name] = [*computed_warnings, *few_images_warning(judgments.n_units)]
            scored.append((judgments, item_scores))
        elif number in unnamed:
            text = f"{judgments.protocol.benchmark} was skipped: none of the metrics can be computed for it."
            warnings.append(CaptionWarning(text, "skipped"))
        else:
            check_all_used(external.published, set(), requested)
            raise ParameterError(
                "neither metrics nor scores were given", where=name, hint=f"name a metric, or give scores of {name}"
            )
    check_all_used(external.published, {metric.label for _, item_scores in scored for metric in item_scores}, requested)
    what = "differences and intervals" if compare else "intervals"
    with steps(scored, lambda item: f"{item[0].protocol.full_name}: {what}") as tested:
        results = [
            _result(judgments, item_scores, test if compare else None, sampling) for judgments, item_scores in tested
        ]
    warnings += warnings_by_system([*by_benchmark.items()])
    return Judgment(results, sampling, [*dict.fromkeys(warnings)], test=test if compare else None)


def load_judgments(benchmark: str | os.PathLike[str], data: str | os.PathLike[str] | None = None) -> HumanJudgments:
    """Load the judgments of a benchmark, or of a file of your own; raises as ``judge`` does."""
    request = as_own(os.fspath(benchmark))
    if request is not None:
        return load_own(*request)
    protocol = benchmark_names.protocol(str(benchmark))
    return benchmark_names.get(protocol.benchmark).judgments(protocol, data_folder(data))


def _every_benchmark(data: str | os.PathLike[str] | None) -> tuple[list[HumanJudgments], list[CaptionWarning]]:
    """Return the first protocol of every benchmark whose files are in the folder, and a sentence about the others."""
    folder = data_folder(data)
    loaded, missing = [], []
    for name in benchmark_names.names():
        try:
            loaded.append(load_judgments(name, folder.folder))
        except ResourceError:
            missing.append(name)
    if not loaded:
        raise ResourceError(
            "there are no judgments", where=str(folder.folder), hint="captious data list names their sources"
        )
    if not missing:
        return loaded, []
    text = f"benchmarks skipped because their files are missing: {', '.join(missing)}"
    return loaded, [CaptionWarning(text, "skipped")]


def _check(requested: Sequence[HumanJudgments], metrics: Sequence[MetricLike], external: ExternalScores) -> None:
    if not requested:
        raise ParameterError("no benchmarks were requested", hint="name one, such as composite")
    if not metrics and not any(external):
        raise ParameterError(
            "no metrics were requested", hint=f"name one, such as {requesting('cider-d')}, or give scores"
        )
    firsts: dict[str, HumanJudgments] = {}
    for judgments in requested:
        first = firsts.setdefault(judgments.protocol.benchmark, judgments)
        before, current = first.protocol, judgments.protocol
        if before is not current and (before.full_name == current.full_name or not _same_data(first, judgments)):
            raise ParameterError(
                f"two benchmarks are called {current.benchmark}",
                hint="rename the judgment file, or judge them one at a time",
            )
        if before.ratings != current.ratings:
            raise ParameterError(
                f"{before.full_name} and {current.full_name} cannot share a table",
                where=f"their ratings are combined differently ({before.ratings}, {current.ratings}): "
                "the figures look alike, but are not comparable",
                hint="judge them one at a time",
            )
    names = [judgments.protocol.full_name for judgments in requested]
    if repeated := _first_repeated(names):
        raise ParameterError(f"{repeated} is requested twice", hint="name each benchmark once")
    if unknown := external.table.keys() - firsts.keys() - set(names):
        raise ParameterError(
            f"scores were given for {sorted(unknown)[0]}, which is not among the requested benchmarks",
            hint=f"the keys are {', '.join(sorted({*firsts, *names}))}",
        )


def _same_data(a: HumanJudgments, b: HumanJudgments) -> bool:
    """Return whether both use the same files, of which one protocol may need more than the other."""
    common = a.data.keys() & b.data.keys()
    return (bool(common) or a.data == b.data) and all(a.data[name] == b.data[name] for name in common)


def _first_repeated(names: Sequence[str]) -> str | None:
    """Return the first duplicate name."""
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


def _result(
    judgments: HumanJudgments, metrics: Sequence[ItemScores], test: MetricTest | None, sampling: Sampling
) -> BenchmarkResult:
    """Return the agreement of metrics with the judgments of one benchmark; with a test, p values and ranks."""
    part_values = {}
    for metric in metrics:
        part_values[metric.label] = judgments.values(metric.values)
        if not np.isfinite(part_values[metric.label]).all():
            raise ParameterError(
                f"the {judgments.protocol.statistic} of {metric.label} is undefined for these judgments",
                where=judgments.protocol.full_name,
                hint="a constant score cannot be correlated: scores or judgments are all equal, in a part or overall",
            )
    values = {label: float(of_parts.mean()) for label, of_parts in part_values.items()}
    resampled = {metric.label: judgments.resampled_mean([metric.values], sampling) for metric in metrics}
    p_values: dict[tuple[str, str], float] = {}
    permutations: int | None = None
    if test == "bootstrap" and not isinstance(judgments, SystemRanking):
        p_values = _corrected(metrics, lambda a, b: _bootstrap(judgments, values, resampled, a.label, b.label))
    elif test is not None:
        # The smallest p of n permutations is 1 / (n + 1), and Holm multiplies it by the number of pairs.
        n = max(sampling.resamples, _PERMUTATIONS_PER_PAIR * math.comb(len(metrics), 2))
        p_values = _corrected(metrics, lambda a, b: judgments.permutation_test(a.values, b.values, n, sampling.seed))
        permutations = n if judgments.is_permuted else None
    rank_of = ranks(values, p_values, 1 - sampling.level) if test is not None else {}
    agreements = {
        metric.label: Agreement(
            metric.label,
            values[metric.label],
            sampling.interval(resampled[metric.label]),
            rank_of.get(metric.label),
            metric.signature,
            dict(zip(judgments.part_names, part_values[metric.label].tolist(), strict=False)),
            metric.lower_is_better,
            judgments.p_of_none(metric.values),
        )
        for metric in metrics
    }
    agreement = judgments.people(sampling)
    people = Agreement(PEOPLE, *agreement, None, f"{PEOPLE}|mean-over:pairs") if agreement else None
    return BenchmarkResult(
        judgments.protocol,
        judgments.n,
        dict(judgments.data),
        agreements,
        p_values,
        permutations,
        people,
        _scatters(judgments, metrics),
    )


def _corrected(
    metrics: Sequence[ItemScores], p_value: Callable[[ItemScores, ItemScores], float]
) -> dict[tuple[str, str], float]:
    """Return the p value of each pair of metrics, with Holm's correction."""
    pairs = list(combinations(metrics, 2))
    p_values = holm([p_value(a, b) for a, b in pairs])
    return {(a.label, b.label): p for (a, b), p in zip(pairs, p_values, strict=True)}


def _bootstrap(
    judgments: HumanJudgments,
    values: Mapping[str, float],
    resampled: Mapping[str, NDArray[np.float64]],
    a: str,
    b: str,
) -> float:
    """Return the p value of the difference between two metrics by the paired bootstrap."""
    return bootstrap_p_value(
        values[a] - values[b],
        resampled[a] - resampled[b],
        scale=max(abs(values[a]), abs(values[b])),
        n_images=judgments.n_units,
        method="normal",
    )


def _scatters(judgments: HumanJudgments, metrics: Sequence[ItemScores]) -> dict[str, Curves]:
    """Return a picture for each metric, with a point for each system, if systems are compared."""
    name = judgments.protocol.full_name
    pictures = {}
    for metric in metrics:
        if compared := judgments.of_systems(metric.values):
            pictures[f"{name}-{metric.label}"] = scatter(
                f"{name}: {metric.label}",
                compared.scores,
                compared.ratings,
                compared.names,
                f"{metric.label}{', negated' if metric.lower_is_better else ''}",
                judgments.protocol.facts().get("measure", "mean rating").partition(",")[0],
            )
    return pictures


# Files for training in papers, generated from others in the folder of judgment data.

_REFERENCES = "coco/captions_val2014.json.gz"
_SYSTEMS = "coco/results_val2014"
_KEEP_OUT = "coco/evaluation_images.json.gz"
_IMAGES = 4_000


def coco_sources(folder: Path) -> tuple[Path, tuple[Path, ...], Path]:
    """Return COCO's validation captions, the results of systems on them, and the ids of images to exclude.

    Raises:
        ResourceError: captions or systems are missing.
    """
    references, systems = folder / _REFERENCES, tuple(sorted((folder / _SYSTEMS).glob("*.json*")))
    if not references.exists() or not systems:
        raise ResourceError(
            "the captions and systems of COCO are not in the folder of judgment data",
            where=f"{folder}: {_REFERENCES}, {_SYSTEMS}/",
            hint="give REFERENCES and SYSTEMs",
        )
    return references, systems, folder / _KEEP_OUT


def coco_examples(folder: Path, output: Path) -> None:
    """Write training examples of 4,000 images that are in no evaluation; negative ones are captions of other images."""
    references, systems, keep_out = coco_sources(folder)
    files = {path.name.partition(".")[0]: path for path in systems}
    out = read_ids(keep_out)
    examples, _ = make_examples(
        read_references(references), files, keep_out=out, negatives="other", images=_IMAGES, validation=0
    )
    write_examples(output, examples)


def expert_ratings(folder: Path, output: Path) -> None:
    """Write the captions of Flickr8k-Expert with the mean ratings of three experts."""
    judgments = load_judgments("flickr8k-expert@yi2020", folder)
    assert isinstance(judgments, RatedCaptions)
    table = judgments.captions
    ends = table.references.offsets.tolist()
    with whole_file(output) as file:
        for i, ratings in enumerate(judgments.ratings):
            references = table.references.texts[ends[i] : ends[i + 1]]
            row = {"candidate": table.candidates[i], "references": references, "rating": float(ratings.mean())}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
