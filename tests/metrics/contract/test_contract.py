"""The contract, over every metric of the catalogue in every variant, and over one that only this file registers.

It is stated in captious/metrics/contract/metric.py: rows of statistics do not look at each other, sums of them are
all that corpus scores need, and fitted states merge to what fitting together gives.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious.data import Captions, References
from captious.evaluation import evaluate
from captious.evaluation.reward import RewardTerm
from captious.learned.caption_weights import CaptionWeights
from captious.learned.networks import Network, NetworkWeights, as_feature_set
from captious.metrics.contract import registry
from captious.metrics.contract.metric import MeanMetric, Metric, State, reference_counts, run_signatures
from captious.metrics.contract.parameters import ChoiceParameter, FlagParameter, IntegerParameter, NumberParameter
from captious.metrics.contract.selection import select
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.models import WordVectors
from captious.parsing.parse_files import FileOfParses
from captious.text import PTB, WHITESPACE, TokenLayer
from tests.support.corpora import TOY, Corpus, large_corpus, references_table, table
from tests.support.every_metric import LOWEST, every_variant, variants_of


@dataclass(frozen=True)
class WordCounts:
    """In how many references each word occurs."""

    counts: Counter[str]

    def merge(self, other: State) -> WordCounts:
        assert isinstance(other, WordCounts)
        return WordCounts(self.counts + other.counts)

    @property
    def label(self) -> str:
        return f"words-{len(self.counts)}"


class Rarity(MeanMetric):
    """A metric as others might write it: it must be fitted, has two outputs, a parameter and two variants."""

    name = "rarity"
    outputs = ("rarity-mean", "rarity-max")
    variants: ClassVar[dict[str, str]] = {"official": "one over one plus the count", "paper": "its square root"}
    needs_fit = True

    smooth: NumberParameter[float] = NumberParameter(default=1.0)

    def fit(self, references: References) -> WordCounts:
        tokens = references.layer(TokenLayer(self.tokenizer))
        words = tokens.vocabulary.words()
        return WordCounts(Counter(words[i] for i in tokens.ids))

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        state = state or self.fit(captions.references)
        assert isinstance(state, WordCounts)
        rows = []
        for candidate in captions.candidates:
            rarities = [1 / (self.smooth + state.counts[word]) for word in self.tokenizer(candidate)] or [0.0]
            rows.append([sum(rarities) / len(rarities), max(rarities)])
        return np.array(rows).reshape(-1, 2) ** (0.5 if self.variant == "paper" else 1.0)


@pytest.fixture(autouse=True, scope="module")
def with_a_registered_metric() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_registered", {})
        registry.register("rarity")(Rarity)
        yield


OTHERS = [pytest.param(("rarity", variant), id=f"rarity@{variant}") for variant in Rarity.variants]


@pytest.fixture(params=[*every_variant(), *OTHERS])
def metric(request: pytest.FixtureRequest) -> Metric:
    name, variant = request.param
    return registry.get(name)(variant=variant)


CORPUS = large_corpus(60, seed=3)
#: Its tables, of which every test has the same annotations, as parsing takes long.
MANY = CORPUS.table()
ORDER = np.random.default_rng(5).permutation(len(MANY))
SHUFFLED = MANY.select(ORDER)
BACKWARDS = Corpus(CORPUS.candidates, [references[::-1] for references in CORPUS.references]).table()
#: Metrics that parse captions, which takes a hundred times as long as anything else.
PARSING = ("spice", "spider", "hwcm", "nneval", "lceval")
HARD = table(
    ["", "dog", "a dog", "", "3 1/2 (555) 555-1234", "dog dog dog dog dog"],
    [["a dog", ""], ["dog"], [""], ["", ""], ["call (555) 555-1234 now", "3 1/2 dogs"], ["dog", "dog dog dog"]],
)


@cache
def pieces(captions: Captions) -> list[Captions]:
    """Return the table in three parts of different sizes, without shared annotations."""
    n = len(captions)
    bounds = [0, n // 5, n // 5 + 1, n]
    return [captions.select(range(a, b)) for a, b in itertools.pairwise(bounds)]


def corpus_scores(metric: Metric, captions: Captions) -> NDArray[np.float64]:
    return metric.aggregate(metric.statistics(captions, metric.fit(captions.references)).sum(axis=0))


@pytest.mark.parametrize("captions", [MANY, TOY.table(), HARD], ids=["many", "toy", "hard"])
def test_statistics_of_pieces_are_those_of_the_whole(metric: Metric, captions: Captions) -> None:
    state = metric.fit(captions.references)
    whole = metric.statistics(captions, state)
    assert whole.dtype == np.float64
    assert len(whole) == len(captions)
    parts = [metric.statistics(piece, state) for piece in pieces(captions)]
    np.testing.assert_array_equal(np.vstack(parts), whole)
    summed = sum(part.sum(axis=0) for part in parts)
    np.testing.assert_allclose(metric.aggregate(np.asarray(summed)), metric.aggregate(whole.sum(axis=0)), rtol=1e-12)


def test_states_of_pieces_merge_to_that_of_the_whole(metric: Metric) -> None:
    captions = MANY
    states = [metric.fit(piece.references) for piece in pieces(captions)]
    whole = metric.fit(captions.references)
    if whole is None:
        assert states == [None] * 3
        assert not metric.needs_fit
        return
    first, second, third = states
    expected = metric.statistics(captions, whole)
    for merged in (first.merge(second).merge(third), third.merge(first.merge(second))):
        np.testing.assert_array_equal(metric.statistics(captions, merged), expected)


def test_a_metric_without_state_fits_what_is_at_hand(metric: Metric) -> None:
    captions = MANY
    np.testing.assert_array_equal(
        metric.statistics(captions), metric.statistics(captions, metric.fit(captions.references))
    )


def test_order_of_images_does_not_matter(metric: Metric) -> None:
    expected = metric.statistics(MANY, metric.fit(MANY.references))[ORDER]
    np.testing.assert_array_equal(metric.statistics(SHUFFLED, metric.fit(SHUFFLED.references)), expected)


#: Metrics whose statistics are those of the best reference, the first of equals. Its score is theirs whatever the
#: order; which of the equals it is shows in the statistics, and by a hair in what they add up to.
OF_THE_BEST_REFERENCE = ("chrf", "gleu", "meteor")


def test_order_of_references_does_not_matter(metric: Metric) -> None:
    expected, backwards = metric.statistics(MANY), metric.statistics(BACKWARDS)
    if metric.name in OF_THE_BEST_REFERENCE:
        expected, backwards = metric.aggregate(expected), metric.aggregate(backwards)
    np.testing.assert_allclose(backwards, expected, rtol=1e-12, atol=1e-15)


# GLEU passes over references without words for a candidate without words: its own tests have ties.
@pytest.mark.parametrize("metric", every_variant("chrf", "meteor"), indirect=True)
def test_the_first_of_the_best_references_counts(metric: Metric) -> None:
    pairs = [
        (" ".join(candidate), [" ".join(reference)])
        for candidate, references in zip(CORPUS.candidates, CORPUS.references, strict=True)
        for reference in references
    ]
    rows = metric.statistics(table([candidate for candidate, _ in pairs], [reference for _, reference in pairs]))
    scores = metric.aggregate(rows)[:, 0]
    ends = np.cumsum([len(references) for references in CORPUS.references])
    groups = np.split(np.arange(len(rows)), ends[:-1])
    best = [group[np.argmax(scores[group])] for group in groups]
    np.testing.assert_array_equal(metric.statistics(MANY), rows[best])
    ties = [group for group in groups if (scores[group] == scores[group].max()).sum() > 1]
    assert ties, "no reference is as good as another"


def test_a_row_depends_on_its_own_candidate_only(metric: Metric) -> None:
    captions = MANY
    candidates = list(captions.candidates)
    candidates[7] = "unheard of words"
    changed = Captions(tuple(candidates), captions.references)
    state = metric.fit(captions.references)
    expected = metric.statistics(captions, state)
    actual = metric.statistics(changed, state)
    others = np.arange(len(captions)) != 7
    np.testing.assert_array_equal(actual[others], expected[others])


#: How many outputs every caption has a score of, where that is not all.
ALWAYS_THERE = {"spice": 3}


@pytest.mark.parametrize("captions", [TOY.table(), HARD, table([""], [[""]]), table(["dog"], [["dog"]])])
def test_empty_and_one_word_captions_are_legal(metric: Metric, captions: Captions) -> None:
    statistics = metric.statistics(captions, metric.fit(captions.references))
    assert np.isfinite(statistics).all()
    n_scored = ALWAYS_THERE.get(metric.name, len(metric.outputs))
    scores = metric.aggregate(statistics)[:, :n_scored]
    assert np.isfinite(scores).all()
    assert (scores >= LOWEST.get(metric.name, 0.0)).all()
    assert np.isfinite(metric.aggregate(statistics.sum(axis=0))[:n_scored]).all()


def test_empty_table_has_no_rows_of_statistics(metric: Metric) -> None:
    captions = MANY
    state = metric.fit(captions.references)
    k = metric.statistics(captions, state).shape[1]
    nothing = Captions((), references_table([]))
    assert metric.statistics(nothing, state).shape == (0, k)


def test_aggregate_is_a_pure_function_of_any_shape(metric: Metric) -> None:
    captions = MANY
    statistics = metric.statistics(captions, metric.fit(captions.references))
    before = statistics.copy()
    m = len(metric.outputs)
    scores = metric.aggregate(statistics)
    assert scores.shape == (len(captions), m)
    assert metric.aggregate(statistics[0]).shape == (m,)
    np.testing.assert_array_equal([metric.aggregate(row) for row in statistics], scores)
    stacked = metric.aggregate(statistics.reshape(3, 20, -1))
    np.testing.assert_array_equal(stacked, scores.reshape(3, 20, m))
    assert metric.aggregate(statistics[:0]).shape == (0, m)
    np.testing.assert_array_equal(statistics, before)


def test_resampling_is_a_matrix_product(metric: Metric) -> None:
    captions = MANY
    state = metric.fit(captions.references)
    statistics = metric.statistics(captions, state)
    rows = np.random.default_rng(8).integers(len(captions), size=len(captions))
    counts = np.bincount(rows, minlength=len(captions)).astype(float)
    expected = metric.aggregate(statistics[rows].sum(axis=0))
    np.testing.assert_allclose(metric.aggregate(counts @ statistics), expected, rtol=1e-10)


def test_threads_change_no_bit(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = large_corpus(60 if metric.name in PARSING else 1_300, seed=11)
    results = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("CAPTIOUS_THREADS", threads)
        captions = corpus.table()
        results.append(metric.statistics(captions, metric.fit(captions.references)))
    np.testing.assert_array_equal(results[1], results[0])
    np.testing.assert_array_equal(results[2], results[0])


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_streaming_gives_the_corpus_score(metric: Metric) -> None:
    captions = MANY
    expected = corpus_scores(metric, captions)
    stream = captious.Stream(metric)
    for piece in pieces(captions):
        stream.update(piece, piece.references)
    assert list(stream.compute()) == [output + metric.suffix() for output in metric.outputs]
    np.testing.assert_allclose([*stream.compute().values()], expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_streams_merge(metric: Metric) -> None:
    captions = MANY
    expected = corpus_scores(metric, captions)
    streams = [captious.Stream(type(metric)(variant=metric.variant)) for _ in range(3)]
    for stream, piece in zip(streams, pieces(captions), strict=True):
        stream.update(piece, piece.references)
    for other in streams[1:]:
        streams[0].merge(other)
    np.testing.assert_allclose([*streams[0].compute().values()], expected, rtol=1e-12)
    streams[0].reset()
    streams[0].update(captions, captions.references)
    np.testing.assert_array_equal(
        [*streams[0].compute().values()], [result.score for result in evaluate(captions, select(metric)).values()]
    )


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_rewards_are_caption_scores(metric: Metric) -> None:
    state = metric.fit(MANY.references)
    expected = metric.aggregate(metric.statistics(MANY, state))
    signatures = run_signatures(metric, state, reference_counts(MANY.references))
    rows = np.random.default_rng(2).integers(len(MANY), size=200)
    for column, output in enumerate(metric.outputs[:4]):
        if output in metric.lower_is_better | metric.no_direction:
            continue
        reward = captious.Reward([RewardTerm(metric, output)], MANY.references)
        scores = reward(rows, [MANY.candidates[row] for row in rows])
        np.testing.assert_allclose(scores, expected[rows, column], rtol=1e-12, atol=1e-14)
        assert reward.signature == signatures[column]
        assert reward([], []).shape == (0,)


#: Another value of each parameter that a metric may have besides its variant.
OTHER: dict[str, object] = {
    "tokenizer": "spaces",
    "parser": FileOfParses({}, "other.jsonl", "00000000"),
    "stop_words": ["the", "dog"],
    "modules": {"exact": 1.0, "stem": 0.25},
    "vectors": WordVectors.of(["dog", "w1"], [[1, 0], [1, 1]]),
    "idf": DocumentFrequencies.of(references_table([["a dog"]] * 7), PTB),
    "language": "de",
}


#: Weights of another network, for each metric that is trained.
OTHER_WEIGHTS: dict[str, NetworkWeights | CaptionWeights] = {
    name: NetworkWeights(name, "other", as_feature_set(name), Network((np.eye(n, 2),), (np.zeros(2),)))
    for name, n in (("nneval", 8), ("lceval", 16))
} | dict.fromkeys(("concur", "coverage"), replace(CaptionWeights.load(), name="other"))
#: Variants that have weights of their own.
PUBLISHED_WEIGHTS = {"official-8010"}


#: Parameters that need a model; the tests of the metrics that have them bring one.
OF_MODELS = {"model", "layer"}


def other_parameters(metric: Metric) -> dict[str, object]:
    """Return another value of each parameter besides the variant, as far as the variant takes it."""
    resources = {**OTHER, "weights": OTHER_WEIGHTS.get(metric.name)}
    parameters = {*metric.declared} - {"variant", *OF_MODELS}
    if metric.variant in PUBLISHED_WEIGHTS:
        parameters -= {"weights"}
    if metric.name == "spider" and metric.variant == "lceval":
        parameters -= {"sigma"}  # CIDEr has none
    values: dict[str, object] = {}
    for name in parameters:
        declaration = metric.declared[name]
        if isinstance(declaration, IntegerParameter):
            values[name] = declaration.least + 1
        elif isinstance(declaration, NumberParameter):
            values[name] = declaration.least + 0.1
        elif isinstance(declaration, FlagParameter):
            values[name] = not declaration.default
        elif isinstance(declaration, ChoiceParameter):
            values[name] = next(choice for choice in declaration.choices if choice != declaration.default)
        else:
            assert name in resources, f"give another value of {name} to this test"
            values[name] = resources[name]
    return values


def test_signatures_show_every_parameter(metric: Metric) -> None:
    signatures = metric.signatures()
    assert len(set(signatures)) == len(metric.outputs)
    for output, signature in zip(metric.outputs, signatures, strict=True):
        name, *parts = signature.split("|")
        assert name == output
        assert f"variant:{metric.variant}" in parts
        assert f"tokenizer:{metric.tokens}" in parts
        assert parts[-1].startswith("captious:")
    distinct = {signatures}
    variants = [*metric.variants] if metric.name == "rarity" else variants_of(metric.name)
    for variant in variants:
        if variant != metric.variant:
            distinct.add(type(metric)(variant=variant).signatures())
    others = other_parameters(metric)
    for parameter, value in others.items():
        distinct.add(type(metric)(variant=metric.variant, **{parameter: value}).signatures())
    assert len(distinct) == len(variants) + len(others)


def test_streams_of_other_parameters_are_refused(metric: Metric) -> None:
    from captious.errors import ParameterError

    for parameter, value in other_parameters(metric).items():
        other = type(metric)(variant=metric.variant, **{parameter: value})
        with pytest.raises(ParameterError, match="cannot be merged"):
            captious.Stream(metric).merge(captious.Stream(other))


def test_tokenizer_is_that_of_the_metric(metric: Metric) -> None:
    if "tokenizer" not in metric.declared:
        pytest.skip("not here: its tokenizer is that of its training")
    shouted = table(["A Dog!", "a dog !"], [["a dog"], ["a dog"]])
    relaxed = metric.statistics(shouted)
    other = PTB if metric.tokenizer == WHITESPACE else WHITESPACE
    strict = type(metric)(variant=metric.variant, tokenizer=other).statistics(shouted)
    assert relaxed.shape == strict.shape
    if not metric.needs_fit:  # with one image, weights of n-grams are all zero
        assert (relaxed != strict).any()
