"""Several candidates per image: the contract over every metric of sets, and every other metric of the mean and best."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import captious
from captious.data import Captions, CaptionSets, References, read_captions
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.bleu import Bleu
from captious.metrics.contract import registry
from captious.metrics.contract.combined import OfK
from captious.metrics.contract.metric import MeanMetric, SetMetric, State
from captious.metrics.contract.selection import select
from captious.metrics.diversity import Div, Lsa, MBleu, SelfCider
from captious.metrics.length import Length
from captious.text import WHITESPACE
from tests.oracles import cider, diversity
from tests.support.corpora import captions as caption_strategy
from tests.support.corpora import references_table
from tests.support.every_metric import MISSING, OF_SETS, every_variant

VARIANTS = [
    pytest.param(
        (name, variant),
        id=f"{name}@{variant}",
        marks=[pytest.mark.skip(MISSING[name])] if name in MISSING else [],
    )
    for name in OF_SETS
    for variant in registry.get(name).variants
]


def table(texts: list[list[str]], references: list[list[str]]) -> CaptionSets:
    return CaptionSets(references_table(texts), references_table(references))


def corpus(images: int, sizes: tuple[int, ...] = (3,), seed: int = 1) -> CaptionSets:
    """Return captions of few words, some of them empty or equal."""
    draw = random.Random(seed)

    def caption() -> str:
        return " ".join(draw.choice(("a", "the", "dog", "cat", "on", "red", "bus")) for _ in range(draw.randrange(7)))

    return table(
        [[caption() for _ in range(sizes[i % len(sizes)])] for i in range(images)],
        [[caption() or "a" for _ in range(draw.randint(1, 3))] for _ in range(images)],
    )


@pytest.fixture(params=VARIANTS)
def metric(request: pytest.FixtureRequest) -> SetMetric:
    name, variant = request.param
    set_metric = registry.get(name)(variant=variant)
    assert isinstance(set_metric, SetMetric)
    return set_metric


def sizes_of(metric: SetMetric) -> tuple[int, ...]:
    return (3,) if (metric.name, metric.variant) == ("mbleu", "official") else (2, 1, 4)


def test_statistics_of_pieces_are_those_of_the_whole(metric: SetMetric) -> None:
    sets = corpus(40, sizes_of(metric))
    state = metric.fit(sets.references)
    whole = metric.statistics(sets, state)
    assert whole.dtype == np.float64
    assert len(whole) == len(sets)
    assert np.isfinite(whole).all()
    pieces = [sets.select(range(a, b)) for a, b in itertools.pairwise([0, 7, 8, 40])]
    np.testing.assert_allclose(np.vstack([metric.statistics(piece, state) for piece in pieces]), whole, atol=1e-12)
    order = np.random.default_rng(3).permutation(40)
    np.testing.assert_allclose(metric.statistics(sets.select(order), state), whole[order], atol=1e-12)


def test_a_row_depends_on_its_own_candidates_only(metric: SetMetric) -> None:
    sets = corpus(20, sizes_of(metric))
    state = metric.fit(sets.references)
    texts = sets.texts
    texts[5] = ["quite other words"] * len(texts[5])
    changed = CaptionSets(references_table(texts), sets.references)
    others = np.arange(20) != 5
    expected, actual = metric.statistics(sets, state), metric.statistics(changed, state)
    np.testing.assert_allclose(actual[others], expected[others], atol=1e-12)
    assert (actual[5] != expected[5]).any()


def test_set_scores_of_any_shape(metric: SetMetric) -> None:
    sets = corpus(20, sizes_of(metric))
    statistics = metric.statistics(sets, metric.fit(sets.references))
    m = len(metric.outputs)
    scores = metric.aggregate(statistics)
    assert scores.shape == (20, m)
    np.testing.assert_array_equal(metric.aggregate(statistics.reshape(4, 5, -1)), scores.reshape(4, 5, m))
    assert metric.aggregate(statistics[:0]).shape == (0, m)
    corpus_scores = metric.aggregate(statistics.sum(axis=0))
    assert corpus_scores.shape == (m,)
    present = corpus_scores[~np.isnan(corpus_scores)]
    assert len(present) >= min(m, 3)
    assert ((present >= 0) & (present <= 1 + 1e-9)).all()


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_set_metrics_stream(metric: SetMetric) -> None:
    sets = corpus(30, sizes_of(metric))
    expected = metric.aggregate(metric.statistics(sets, metric.fit(sets.references)).sum(axis=0))
    stream = captious.Stream(metric)
    stream.update(sets.select(range(10)))
    stream.update(sets.select(range(10, 30)))
    np.testing.assert_allclose([*stream.compute().values()], expected, rtol=1e-12)
    stream.reset()
    stream.update([["a dog", "dog"]] * 2, [["a dog"], ["a cat"]])
    assert [*stream.compute()] == [output + metric.suffix() for output in metric.outputs]


def test_set_metrics_refuse_single_captions(metric: SetMetric) -> None:
    with pytest.raises(ParameterError, match="judges several") as caught:
        captious.score(["a"], [["a"]], [metric.name])
    assert 'several="mean"' in str(caught.value)
    with pytest.raises(ParameterError, match="judges several"):
        captious.reward([["a"]], metric)


def test_all_includes_set_metrics_only_for_several_candidates() -> None:
    names = {requested.metric.name for requested in select("all").requested}
    assert not names & {*OF_SETS}
    with_several = {requested.metric.name for requested in select("all", several=True).requested}
    assert with_several == names | ({*OF_SETS} - MISSING.keys())


# ---- against slow reimplementations


def tokens(texts: list[list[str]]) -> list[list[list[str]]]:
    return [[text.split() for text in image] for image in texts]


sets_of_captions = st.lists(
    st.lists(caption_strategy(8), min_size=1, max_size=5).map(lambda captions: [" ".join(words) for words in captions]),
    min_size=1,
    max_size=4,
)


def scores_of(metric: SetMetric, texts: list[list[str]], state: State | None = None) -> NDArray[np.float64]:
    sets = table(texts, [["a dog on c"], *[["b c"]] * (len(texts) - 1)])
    return metric.aggregate(metric.statistics(sets, state))


@given(sets_of_captions)
def test_div_equals_the_oracle(texts: list[list[str]]) -> None:
    expected = [[diversity.div(captions, n) for n in (1, 2)] for captions in tokens(texts)]
    np.testing.assert_allclose(scores_of(Div(tokenizer=WHITESPACE), texts), expected, atol=1e-15)


@given(sets_of_captions)
def test_mbleu_of_images_equals_the_oracle(texts: list[list[str]]) -> None:
    actual = scores_of(MBleu(variant="mean", tokenizer=WHITESPACE), texts)
    for captions, row in zip(tokens(texts), actual, strict=True):
        expected = diversity.mbleu([captions]) if len(captions) > 1 else [np.nan] * 4
        np.testing.assert_allclose(row, expected, rtol=1e-12)


@given(st.integers(2, 4).flatmap(lambda m: st.lists(st.lists(caption_strategy(8), min_size=m, max_size=m), min_size=1)))
def test_mbleu_of_the_corpus_equals_the_oracle(captions: list[list[list[str]]]) -> None:
    texts = [[" ".join(words) for words in words_of_image] for words_of_image in captions]
    metric = MBleu(tokenizer=WHITESPACE)
    rows = metric.statistics(table(texts, [["a"]] * len(texts)))
    np.testing.assert_allclose(metric.aggregate(rows.sum(axis=0)), diversity.mbleu(captions), rtol=1e-12)


@given(sets_of_captions)
def test_spectral_diversity_equals_the_oracle(texts: list[list[str]]) -> None:
    references = [[["a", "dog", "on", "c"]], *[[["b", "c"]]] * (len(texts) - 1)]
    frequencies = cider.frequencies(references)
    expected = [
        [diversity.self_cider(image, frequencies), diversity.self_cider_d(image, frequencies), diversity.lsa(image)]
        for image in tokens(texts)
    ]
    metrics = (SelfCider(tokenizer=WHITESPACE), SelfCider(variant="cider-d", tokenizer=WHITESPACE), Lsa())
    actual = np.hstack([scores_of(metric, texts) for metric in metrics])
    np.testing.assert_allclose(actual, expected, atol=1e-7)


def test_too_many_candidates_are_refused() -> None:
    sets = table([["a"], ["a"] * 1001], [["a"], ["a"]])
    for metric in (SelfCider(), Lsa()):
        with pytest.raises(ParameterError, match="at most 1,000; there are 1,001"):
            metric.statistics(sets)


def test_mbleu_needs_equal_numbers() -> None:
    with pytest.raises(ParameterError, match="same number of candidates") as caught:
        MBleu().statistics(table([["a", "b"], ["a", "b", "c"]], [["a"], ["b"]]))
    assert "image_id 0 has 2, image_id 1 has 3" in str(caught.value)
    with pytest.raises(ParameterError, match="every image has only one"):
        MBleu().statistics(table([["a"], ["b"]], [["a"], ["b"]]))


# ---- mean and best of k


class Count(MeanMetric):
    """The number of words, as a metric without a direction."""

    name = "count"
    outputs = ("count-up", "count-down")
    lower_is_better = frozenset({"count-down"})

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        lengths = np.array([len(text.split()) for text in captions.candidates], float)
        return np.stack([lengths, lengths], axis=1)


def test_mean_and_best_of_caption_scores() -> None:
    sets = table([["a b c", "a"], ["a b", "a b", "", "a b c d"]], [["x"], ["y"]])
    for choice, expected in (("mean", [[2, 2], [2, 2]]), ("best", [[3, 1], [4, 0]])):
        metric = OfK(Count(), choice)  # type: ignore[arg-type]
        rows = metric.statistics(sets)
        np.testing.assert_allclose(metric.aggregate(rows), expected)
        np.testing.assert_allclose(metric.aggregate(rows.sum(axis=0)), np.mean(expected, axis=0))


def test_the_first_of_the_best_candidates_counts() -> None:
    # Equal scores by different matches: which of the two is chosen shows in the statistics.
    sets = table([["a x", "y a"]], [["a", "y z w a"]])
    bleu = Bleu(tokenizer=WHITESPACE)
    rows = OfK.candidate_statistics(bleu, sets, None)
    chosen = OfK(bleu, "best").of_candidates(rows, sets.candidates.offsets).reshape(4, 10)
    scores = bleu.aggregate(rows)
    for output, row in enumerate(chosen):
        np.testing.assert_array_equal(row, rows[int(np.argmax(scores[:, output]))])


@pytest.mark.parametrize("variant_of", every_variant())
def test_single_candidates_score_as_without_sets(variant_of: tuple[str, str]) -> None:
    name, variant = variant_of
    metric = registry.get(name)(variant=variant)
    sets = corpus(12, (1,))
    captions = Captions(sets.candidates.texts, sets.references)
    state = metric.fit(sets.references)
    expected = metric.statistics(captions, state)
    for choice in OfK.ways(metric, ("mean", "best")):
        of_k = OfK(metric, choice)
        rows = of_k.statistics(sets, state)
        np.testing.assert_array_equal(of_k.aggregate(rows), metric.aggregate(expected))
        np.testing.assert_allclose(of_k.aggregate(rows.sum(axis=0)), metric.aggregate(expected.sum(axis=0)), rtol=1e-12)


@pytest.mark.parametrize(
    "variant_of", every_variant("bleu", "meteor", "rouge-l", "cider-d", "spice", "spider", "sparcs")
)
def test_candidates_are_scored_as_by_themselves(variant_of: tuple[str, str]) -> None:
    name, variant = variant_of
    metric = registry.get(name)(variant=variant)
    sets = corpus(9, (3, 1, 2, 1, 1))
    state = metric.fit(sets.references)
    rows = OfK.candidate_statistics(metric, sets, state)
    at = 0
    for i, texts in enumerate(sets.texts):
        for text in texts:
            alone = metric.statistics(Captions((text,), sets.references.select([i])), state)
            np.testing.assert_allclose(rows[at], alone[0], rtol=1e-12, atol=1e-15)
            at += 1


def test_references_are_tokenized_once() -> None:
    tokenized: list[str] = []

    def cut(caption: str) -> list[str]:
        tokenized.append(caption)
        return caption.split()

    references = {i: [f"reference {i} {j}" for j in range(4)] for i in range(5)}
    candidates = {i: [f"candidate {i} {j}" for j in range(3)] for i in range(5)}
    settings = captious.Settings(tokenizer=cut)
    with pytest.warns(captious.CaptiousWarning):
        captious.score(candidates, references, ["bleu", "rouge-l", "cider-d", "div"], settings=settings, several="mean")
    of_references = [text for text in tokenized if text.startswith("reference")]
    assert len(of_references) == len(set(of_references)) == 20


def test_of_k_refuses_unknown_choices_and_set_metrics() -> None:
    with pytest.raises(ParameterError, match="not a metric of single captions"):
        OfK(Div())
    with pytest.raises(UnknownNameError, match="several is 'worst'"):
        OfK(Bleu(), "worst")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="neither higher nor lower"):
        OfK(Length(), "best")


def test_empty_table_has_no_rows_of_set_statistics() -> None:
    nothing = CaptionSets(References((), (), np.zeros(1, np.int64)), References((), (), np.zeros(1, np.int64)))
    metrics: list[Callable[[], SetMetric]] = [Div, Lsa, lambda: MBleu(variant="mean"), lambda: OfK(Bleu(), "best")]
    for make in metrics:
        metric = make()
        k = metric.statistics(read_captions([["a b", "a"]], [["a"]], several="mean")).shape[1]
        assert metric.statistics(nothing).shape == (0, k)
