"""METEOR against its oracle, with word lists of a few words, on captions where words repeat and alignments tie."""

from __future__ import annotations

import itertools
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import captious
from captious.metrics.contract.metric import Metric
from captious.native import Vocabulary, meteor_normalize
from tests.oracles import meteor as oracle
from tests.support.corpora import Corpus
from tests.support.meteor_files import MeteorFiles

#: Several words per stem and per set, an irregular form, function words, and none of these.
WORDS = ("dog", "dogs", "hound", "ran", "run", "runs", "running", "the", "of", "ox", "oxen", "men", "x")

FILES = MeteorFiles(
    synsets={"dog": [1], "hound": [1, 5], "run": [2, 3], "ox": [4], "man": [5], "the": [3]},
    exceptions={"run": ["ran"], "ox": ["oxen", "x"], "hound": ["x"]},
    function_words=("the", "of"),
    pairs=[
        ("dog", "hound"),
        ("hound", "dog"),  # symmetric: filed from both sides
        ("the dog", "dogs of"),
        ("the dog", "dogs of"),  # twice
        ("the dog", "hound"),
        ("the", "of the"),
        ("of the dog", "run"),
        ("run", "of the dog"),
        ("run run", "runs"),
        ("x x x", "ox oxen"),
        ("ox oxen", "x x x"),
        ("runs", "runs"),  # of itself
    ],
)
#: Each module alone, in company, and without the one that comes first.
MODULES = (
    oracle.MODULES,
    {"exact": 1.0},
    {"stem": 0.7},
    {"synonym": 1.0},
    {"paraphrase": 0.5},
    {"exact": 0.9, "paraphrase": 1.0},
    {"stem": 0.3, "synonym": 0.4},
    {"exact": 1.0, "stem": 0.0, "synonym": 0.25},
    {"exact": 1.0, "stem": 1.0, "synonym": 1.0, "paraphrase": 1.0},
)


@contextmanager
def written(files: MeteorFiles) -> Iterator[None]:
    """METEOR with these files, and an index of them that nobody else has."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPTIOUS_METEOR_HOME", str(files.write(Path(folder) / "home")))
        patch.setenv("CAPTIOUS_CACHE", str(Path(folder) / "cache"))
        yield


@pytest.fixture(scope="module", autouse=True)
def small_tables() -> Iterator[None]:
    with written(FILES):
        captious.Meteor(tokenizer="whitespace").align("a", "a")  # opens the index, so that all tests share it
        yield


@st.composite
def soups(draw: st.DrawFn, max_size: int = 14) -> Corpus:
    """Captions of few distinct words each, candidate and references of the same; some candidates are copies."""
    corpus = Corpus([], [])
    for _ in range(draw(st.integers(1, 3))):
        few = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
        caption = st.lists(st.sampled_from(few), max_size=max_size)
        references = draw(st.lists(caption, min_size=1, max_size=3))
        candidate = draw(st.one_of(caption, caption, st.sampled_from(references), st.permutations(references[0])))
        corpus.candidates.append(candidate)
        corpus.references.append(references)
    return corpus


def check(metric: Metric, corpus: Corpus, tables: oracle.Tables, parameters: oracle.Parameters) -> None:
    """Statistics to the last bit, and the scores that come of them."""
    modules = metric.modules  # type: ignore[attr-defined]
    expected = [
        oracle.best_statistics(candidate, references, tables, parameters, modules)
        for candidate, references in zip(corpus.candidates, corpus.references, strict=True)
    ]
    statistics = metric.statistics(corpus.table())
    np.testing.assert_array_equal(statistics, expected)
    scores = [oracle.score(row, parameters) for row in expected]
    np.testing.assert_allclose(metric.aggregate(statistics)[:, 0], scores, rtol=1e-12, atol=1e-15)
    whole = metric.aggregate(statistics.sum(axis=0))[0]
    assert whole == pytest.approx(oracle.corpus_score(expected, parameters), rel=1e-12, abs=1e-15)


def meteor(modules: Mapping[str, float] | None = None, variant: str | None = None, **parameters: float) -> Metric:
    return captious.Meteor(modules=modules, variant=variant, tokenizer="whitespace", **parameters)


@settings(max_examples=200)
@given(corpus=soups())
@example(corpus=Corpus([[]], [[[]]]))
@example(corpus=Corpus([["dog", "dog"]], [[["dog", "dog"], ["dog"]]]))
@example(corpus=Corpus([["the", "dog", "the", "dog"]], [[["dogs", "of", "dogs", "of"]]]))
def test_meteor_equals_the_oracle(corpus: Corpus) -> None:
    check(meteor(), corpus, FILES.oracle(), oracle.Parameters())


@pytest.mark.parametrize("modules", MODULES, ids=lambda modules: "+".join(modules))
@given(corpus=soups())
@example(corpus=Corpus([["dog", "hound", "runs"]], [[["dog", "hound", "runs"]]]))  # a copy: the first module only
def test_meteor_equals_the_oracle_for_modules_and_weights(modules: dict[str, float], corpus: Corpus) -> None:
    check(meteor(modules), corpus, FILES.oracle(), oracle.Parameters.with_modules(modules))


#: Edges more often than not: they divide by zero.
SHARES = st.sampled_from([0.0, 1.0, 0.5]) | st.floats(0, 1)


@given(corpus=soups(), alpha=SHARES, beta=st.sampled_from([0.0, 1.0, 3.0]), gamma=SHARES, delta=SHARES)
@example(Corpus([["the", "dog"]], [[["dog"]]]), 0.0, 0.0, 0.0, 2e-309)  # the reciprocal of the precision overflows
def test_meteor_equals_the_oracle_for_parameters(
    corpus: Corpus, alpha: float, beta: float, gamma: float, delta: float
) -> None:
    metric = meteor(alpha=alpha, beta=beta, gamma=gamma, delta=delta)
    check(metric, corpus, FILES.oracle(), oracle.Parameters(alpha, beta, gamma, delta))


@given(corpus=soups())
def test_paper_variant_equals_the_oracle(corpus: Corpus) -> None:
    equal = oracle.Parameters(delta=0.5, weights=(1.0,) * 4)
    check(meteor(variant="paper"), corpus, FILES.oracle(), equal)


@st.composite
def meteor_files(draw: st.DrawFn) -> MeteorFiles:
    """Any word lists over the few words."""
    phrase = st.lists(st.sampled_from(WORDS[:9]), min_size=1, max_size=3).map(" ".join)
    pairs = draw(st.lists(st.tuples(phrase, phrase), min_size=1, max_size=25))
    if draw(st.booleans()):
        pairs += [(right, left) for left, right in pairs]
    words = st.sampled_from((*WORDS, "man", "runn", "th"))
    return MeteorFiles(
        draw(st.dictionaries(words, st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=1)),
        draw(st.dictionaries(words, st.lists(words, min_size=1, max_size=2), min_size=1)),
        draw(st.lists(words, min_size=1, max_size=4)),
        pairs,
    )


@given(files=meteor_files(), corpus=soups())
def test_meteor_equals_the_oracle_for_arbitrary_tables(files: MeteorFiles, corpus: Corpus) -> None:
    with written(files):
        check(meteor(), corpus, files.oracle(), oracle.Parameters())


@pytest.mark.parametrize(
    ("words", "lengths"),
    [
        (1, (45, 40)),
        pytest.param(2, (260, 12), marks=pytest.mark.slow),
        (3, (8, 200)),
        pytest.param(4, (320, 9), marks=[pytest.mark.slow, pytest.mark.nightly]),
        pytest.param(2, (60, 40), marks=[pytest.mark.slow, pytest.mark.nightly]),
        (8, (50, 60)),
    ],
    ids=str,
)
def test_more_paths_than_the_beam_holds(words: int, lengths: tuple[int, int]) -> None:
    rng = random.Random(words)
    few = ("dog", "dogs", "the", "hound", "of", "x", "ox", "oxen")[:words]
    candidate, *references = ([rng.choice(few) for _ in range(n)] for n in (*lengths, lengths[1] - 1))
    check(meteor(), Corpus([candidate], [references]), FILES.oracle(), oracle.Parameters())


@given(
    st.lists(
        st.sampled_from([*"abéжßIŽ09.,'`-–‘’“”\"&|犬😀 \t\u00a0\u2003\u3000", "n't", "vs.", "u.s.", "...", "--"])
        | st.characters(exclude_categories=["Cs"], max_codepoint=0xA7FF)
    ).map("".join)
)
@example("a dog isn't the 1990's t-shirt , e.g. p.m. vs. 1,000 cats ... 'n' o'clock x-1.5")
def test_normalizer_equals_the_oracle(line: str) -> None:
    source, vocabulary = Vocabulary(), Vocabulary()
    ids, offsets = meteor_normalize(source, source.add((line,)), np.array([0, 1]), vocabulary)
    words = vocabulary.words()
    ((start, end),) = itertools.pairwise(offsets.tolist())
    assert [words[i] for i in ids[start:end]] == oracle.normalize(line.replace("|||", ""))
