"""Features against a slow transcription of their definitions, on captions of real systems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

import captious
from captious.data import Captions
from captious.errors import MissingExtraError, ParameterError
from captious.learned.networks import Feature, FeatureMetric, FeatureSet, as_feature_set
from captious.metrics.cider import CiderD
from captious.metrics.contract.settings import Settings
from captious.metrics.shared.frequencies import DocumentFrequencies, as_frequencies
from captious.metrics.spice import Spice
from captious.models import WordVectors
from captious.parsing.sources import ParsedCaptions, as_parse_source
from captious.text import PTB
from captious.text.stop_words import NLTK_STOP_WORDS
from tests.oracles import cider, lceval
from tests.oracles.ngrams import ngrams
from tests.oracles.word_means import clean
from tests.parity.real_captions import read_lines
from tests.support.corpora import table

N = 100


@dataclass(frozen=True)
class Case:
    """Captions with the inputs of features."""

    captions: Captions
    settings: Settings
    inputs: list[lceval.Inputs]
    known: lceval.Known


@pytest.fixture(scope="module")
def case(shared_data: Path, meteor_tables: object) -> Case:
    pairs = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")[:N]
    gold = read_lines(shared_data / "gold" / "karpathy_sys1.jsonl.gz")[:N]
    captions = table([row["captions"][1] for row in pairs], [row["refs"] for row in pairs])
    vectors = WordVectors.open(shared_data / "vectors" / "glove_100d_captions.txt.gz")
    settings = Settings(vectors=vectors, parser="bundled")
    spice = Spice(parser="bundled")
    parses = ParsedCaptions(PTB, as_parse_source("bundled"))
    scores = spice.aggregate(spice.statistics(captions))[:, 0]
    inputs = []
    for row, official, score in zip(pairs, gold, scores, strict=True):
        candidate, references = official["tokens"].split(), [tokens.split() for tokens in official["ref_tokens"]]
        of_texts = parses.of_texts([row["captions"][1], *row["refs"]]).of_captions
        trees = [(parse.lemmas, parse.relations, parse.heads) for parse in of_texts]
        inputs.append(lceval.Inputs(candidate, references, trees, official["meteor"], float(score)))
    texts = [text for caption in inputs for text in [caption.candidate, *caption.references]]
    words = list({word for text in texts for word in [*text, *clean(" ".join(text))]})
    has_vector, rows = vectors.look_up(words)
    own = {word: row.astype(float) for word, is_known, row in zip(words, has_vector, rows, strict=True) if is_known}
    unit = {word: row / np.linalg.norm(row) for word, row in own.items()}
    frequencies = own_frequencies(as_frequencies("coco"), inputs)
    return Case(captions, settings, inputs, lceval.Known(own, unit, NLTK_STOP_WORDS.words, frequencies))


def own_frequencies(counted: DocumentFrequencies, inputs: list[lceval.Inputs]) -> cider.Frequencies:
    """Return the frequencies of the n-grams of some captions, from those of all of them."""
    texts = [text for caption in inputs for text in [caption.candidate, *caption.references]]
    ngrams_of_texts = {ngram for text in texts for n in range(1, 5) for ngram in ngrams(text, n)}
    words = counted.vocabulary.words()
    rows, images = counted.counts.entries()
    named = ((tuple(words[i] for i in row if i >= 0), n) for row, n in zip(rows.tolist(), images.tolist(), strict=True))
    return cider.Frequencies(counted.n_documents, Counter({ngram: n for ngram, n in named if ngram in ngrams_of_texts}))


def test_nneval_features_equal_their_metrics(case: Case) -> None:
    matrix = FeatureMetric(feature_set=as_feature_set("nneval"), settings=case.settings).matrix(case.captions)
    expected = [lceval.nneval(caption, case.known) for caption in case.inputs]
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-6)
    assert (matrix.std(axis=0) > 0.01).all()


@pytest.mark.parametrize(("name", "combine"), [("lceval", None), ("lceval-mean", fmean), ("lceval-min", min)])
def test_lceval_features_equal_their_metrics(name: str, combine: lceval.Combine | None, case: Case) -> None:
    features = FeatureMetric(feature_set=as_feature_set(name), settings=case.settings)
    matrix = features.matrix(case.captions, features.fit(case.captions.references))
    expected = [lceval.lceval(caption, case.known, combine) for caption in case.inputs]
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=1e-6)
    assert (matrix.std(axis=0) > 0.01).all()


def test_frequencies_of_the_package_give_the_scores_of_all_of_coco(shared_data: Path, case: Case) -> None:
    counted = DocumentFrequencies.of(captious.read_references(shared_data / "coco" / "captions_val2014.json.gz"))
    scores = CiderD(idf="coco").scores(case.captions)
    np.testing.assert_allclose(scores, CiderD(idf=counted).scores(case.captions), rtol=1e-12)
    assert scores.mean() == pytest.approx(1.0, abs=0.3)


def test_layers_are_computed_once(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    source = as_parse_source("bundled")
    parse = type(source).parse

    def counting(self: object, captions: list[str], words: list[tuple[str, ...]]) -> object:
        parsed.append(len(captions))
        return parse(self, captions, words)  # type: ignore[arg-type]

    monkeypatch.setattr(type(source), "parse", counting)
    captions = case.captions.select(range(20))
    FeatureMetric(feature_set=as_feature_set("lceval"), settings=case.settings).matrix(captions)
    texts = {tuple(PTB(text)) for text in (*captions.candidates, *captions.references.texts)}
    assert sum(parsed) == len(texts)


def test_a_score_that_a_caption_has_not_is_zero(meteor_tables: object) -> None:
    features = FeatureMetric(feature_set=FeatureSet("colors", (Feature("spice-color"), Feature("bleu-1", 2.0))))
    matrix = features.matrix(table(["a dog", "a red dog"], [["a cat"], ["a red dog"]]))
    np.testing.assert_allclose(matrix, [[0, 1], [1, 2]], atol=1e-8)


def test_resources_are_shown_and_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    features = FeatureMetric(feature_set=FeatureSet("some", (Feature("mowe"), Feature("yi2020-unigram"))))
    assert features.resources["tokenizer"] == "ptb+whitespace"
    assert str(features.resources["vectors"]).startswith("vectors-")
    with pytest.raises(ParameterError, match="the setting parser was given, but no requested metric uses it"):
        FeatureMetric(feature_set=FeatureSet("some", (Feature("bleu-1"),)), settings=Settings(parser="bundled"))
    monkeypatch.delenv("CAPTIOUS_VECTORS")
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    with pytest.raises(MissingExtraError, match="word vectors") as refused:
        FeatureMetric(feature_set=as_feature_set("lceval"))
    assert "captious vectors add" in refused.value.hint
