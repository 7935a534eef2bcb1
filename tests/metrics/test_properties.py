"""Properties of scores for any captions: bounds, perfect and hopeless candidates, indifference to order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import captious
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Metric
from tests.support.corpora import Corpus, corpora
from tests.support.every_metric import LOWEST, MISSING, TRAINED, VECTORS, variants_here

#: Metrics that need parses, which bags of words do not have.
PARSED = ("spice", "spider", "hwcm", *TRAINED)


def on_plain_words(name: str, variant: str) -> Metric:
    """Return a metric that splits words at spaces, if it splits words at all."""
    metric = registry.get(name)
    words = {} if "tokenizer" in metric.without_parameters else {"tokenizer": "whitespace"}
    return metric(variant=variant, **words)


METRICS: dict[str, Metric] = {
    f"{name}@{variant}": on_plain_words(name, variant)
    for name, variant in variants_here()
    if name not in (*PARSED, "length")  # a length is no measure of likeness
}
#: Metrics for which different words have nothing in common.
NO_LIKENESS = [name for name, metric in METRICS.items() if metric.name not in VECTORS]
#: Metrics that only compare words for equality. METEOR uses stems, synonyms and function words, unless it is told not
#: to; SPARCS uses stems and stop words, the metric of Yi et al. stop words. CIDEr-R looks for letters in tokens, chrF
#: compares characters.
NAMES_ONLY = {
    name: metric
    for name, metric in METRICS.items()
    if metric.name not in ("chrf", "cider-r", "meteor", "sparcs", "yi2020-unigram", *VECTORS)
}
if "meteor" not in MISSING:
    NAMES_ONLY["meteor, exact"] = captious.Meteor(modules={"exact": 1.0}, delta=0.5, tokenizer="whitespace")
#: Where the highest score is not 1; official constants let no score of BLEU and its kin reach 1.
HIGHEST = dict.fromkeys(("cider@official", "cider-d@official", "cider-d@paper", "cider-r@official"), 10.0)
#: Metrics whose score is below 1 even for a copy.
NEVER_PERFECT = ("concur@light", "concur@strict", "coverage@light")


#: Every metric in every variant sees the same few corpora.
few = settings(max_examples=20)


def scores(metric: Metric, corpus: Corpus) -> np.ndarray:
    return metric.aggregate(metric.statistics(corpus.table()))


@pytest.mark.parametrize("name", METRICS)
@few
@given(corpus=corpora())
def test_scores_stay_within_their_bounds(name: str, corpus: Corpus) -> None:
    values = scores(METRICS[name], corpus)
    assert (values >= LOWEST.get(METRICS[name].name, 0.0) * (1 + 1e-12)).all()
    assert (values <= HIGHEST.get(name, 1.0) * (1 + 1e-12)).all()
    whole = METRICS[name].aggregate(METRICS[name].statistics(corpus.table()).sum(axis=0))
    assert (whole >= LOWEST.get(METRICS[name].name, 0.0) * (1 + 1e-12)).all()
    assert (whole <= HIGHEST.get(name, 1.0) * (1 + 1e-12)).all()


LONG = "a dog and a cat sit on the mat"


@pytest.mark.parametrize("name", [name for name in METRICS if name not in NEVER_PERFECT])
def test_a_copy_of_the_only_reference_is_perfect(name: str) -> None:
    corpus = Corpus([LONG.split(), ["two", "men"]], [[LONG.split()], [["a", "red", "bus", "on", "it"]]])
    np.testing.assert_allclose(scores(METRICS[name], corpus)[0], HIGHEST.get(name, 1.0), rtol=1e-8)


@pytest.mark.parametrize("name", METRICS)
def test_a_copy_among_many_references_is_better_than_another_caption(name: str) -> None:
    references = [LONG.split(), ["some", "cat", "with", "a", "dog"], ["pets"]]
    others = [[w] * 6 for w in ("red", "bus")]
    copy = scores(METRICS[name], Corpus([LONG.split(), *others], [references, [["x"]], [["y"]]]))[0]
    other = scores(METRICS[name], Corpus([["the", "red", "bus"], *others], [references, [["x"]], [["y"]]]))[0]
    assert (copy > other).all()


@pytest.mark.parametrize("name", NO_LIKENESS)
def test_a_candidate_without_a_common_word_scores_nothing(name: str) -> None:
    corpus = Corpus([["x", "y", "z", "x", "y"]], [[LONG.split(), ["cats"]]])
    np.testing.assert_allclose(scores(METRICS[name], corpus), 0, atol=1e-9)


@pytest.mark.parametrize("name", NAMES_ONLY)
@few
@given(corpus=corpora())
def test_names_of_words_are_irrelevant(name: str, corpus: Corpus) -> None:
    def rename(tokens: list[str]) -> list[str]:
        return [{"a": "zebra", "b": "犬", "c": "a", "dog": "-5", "on": "''"}[token] for token in tokens]

    renamed = Corpus(
        [rename(candidate) for candidate in corpus.candidates],
        [[rename(reference) for reference in references] for references in corpus.references],
    )
    np.testing.assert_array_equal(scores(NAMES_ONLY[name], renamed), scores(NAMES_ONLY[name], corpus))


@given(corpus=corpora())
def test_bleu_matches_are_among_the_ngrams(corpus: Corpus) -> None:
    statistics = METRICS["bleu@official"].statistics(corpus.table())
    assert (statistics[:, :4] <= statistics[:, 4:8]).all()
    # A match of some order is one of every lower order, though of these fewer may count.
    assert ((statistics[:, 1:4] > 0) <= (statistics[:, 0:3] > 0)).all()


@given(corpus=corpora())
def test_rouge_l_after_lin_is_no_higher_than_the_official(corpus: Corpus) -> None:
    # The official code may take precision and recall from two references.
    official, lin = (scores(METRICS[f"rouge-l@{variant}"], corpus) for variant in ("official", "lin2004"))
    assert (lin <= official + 1e-12).all()
