"""The package ``evaluation`` of the meshed-memory transformer: tokens, rewards, scores of a validation."""

from __future__ import annotations

import importlib
import itertools
import math
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from captious.compat import pycocoevalcap, redirected
from captious.compat.meshed_memory import Cider, PTBTokenizer
from captious.compat.meshed_memory.cider.cider_scorer import CiderScorer
from captious.errors import CaptionTypeError, InputError, ParameterError
from tests.compat.conftest import GTS, MEAN_CIDER, RES
from tests.oracles import cider as oracle
from tests.support.corpora import large_corpus


def corpus(images: int = 20) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """Return references and candidates."""
    texts = large_corpus(images, seed=7)
    gts = {image: [" ".join(words) for words in group] for image, group in enumerate(texts.references)}
    return gts, {image: [" ".join(words)] for image, words in enumerate(texts.candidates)}


class TestTokenizer:
    def test_tokenizer_accepts_tuples(self) -> None:
        assert PTBTokenizer.tokenize(("A dog.", "Dogs!")) == {0: ["a dog"], 1: ["dogs"]}
        assert PTBTokenizer.tokenize([("A dog.", "Dogs!")]) == {0: ["a dog", "dogs"]}

    @pytest.mark.parametrize("corpus", ["a dog", [1], [[1]], {1: [{"caption": "a"}]}])
    def test_tokenizer_refuses_other_forms(self, corpus: Any) -> None:
        with pytest.raises(CaptionTypeError):
            PTBTokenizer.tokenize(corpus)

    def test_tokenizer_equals_pycocoevalcap(self) -> None:
        gts, _ = corpus()
        raw = {image: [{"caption": text} for text in texts] for image, texts in gts.items()}
        assert PTBTokenizer.tokenize(gts) == pycocoevalcap.PTBTokenizer().tokenize(raw)
        assert PTBTokenizer.punctuations[:2] == ["''", "'"]


class TestCider:
    def test_cider_uses_frequencies_of_other_references(self) -> None:
        train, _ = corpus(40)
        gts, res = corpus(10)
        cider = Cider(train)
        frequencies = oracle.frequencies([[text.split() for text in texts] for texts in train.values()])
        expected = [oracle.cider_d(res[i][0].split(), [text.split() for text in gts[i]], frequencies) for i in gts]
        score, scores = cider.compute_score(gts, res)
        assert scores.tolist() == pytest.approx(expected, abs=1e-12)
        assert type(score) is type(scores[0]) is np.float64
        assert score == pytest.approx(np.mean(expected))
        assert cider.doc_frequency == dict(frequencies.counts)
        assert cider.ref_len == math.log(40)

    def test_cider_without_references_has_no_frequencies(self) -> None:
        assert (Cider().doc_frequency, Cider().ref_len) == (None, None)

    def test_cider_scores_several_candidates_of_an_image(self) -> None:
        """As the rewards of beams: the references of an image come once for each of its candidates."""
        train, res = corpus(12)
        cider, beam = Cider(train), 3
        candidates = [text for texts in res.values() for text in (texts[0], texts[0][1:], "w0 w1")]
        references = list(itertools.chain.from_iterable([group] * beam for group in train.values()))
        gts, gen = PTBTokenizer.tokenize(references), PTBTokenizer.tokenize(candidates)
        rewards = cider.compute_score(gts, gen)[1].astype(np.float32)
        assert rewards.shape == (12 * beam,)
        frequencies = oracle.frequencies([[text.split() for text in texts] for texts in train.values()])
        expected = [oracle.cider_d(gen[i][0].split(), [text.split() for text in gts[i]], frequencies) for i in gts]
        assert rewards.tolist() == pytest.approx(expected, abs=1e-5)

    def test_cider_objects_pickle(self) -> None:
        train, _ = corpus()
        cider = Cider(train)
        again = pickle.loads(pickle.dumps(cider))
        assert again.compute_score(GTS, RES)[1].tolist() == cider.compute_score(GTS, RES)[1].tolist()
        assert pickle.loads(pickle.dumps(Cider())).compute_score(GTS, RES)[0] == pytest.approx(MEAN_CIDER)

    def test_pickles_of_the_original_code_are_read(self) -> None:
        """The pickled state: ``_n``, ``_sigma``, a dictionary of frequencies, a logarithm."""
        train, _ = corpus()
        cider = Cider(train, sigma=3.0)
        kept = {"_n": 4, "_sigma": 3.0, "doc_frequency": {**(cider.doc_frequency or {}), ("x",): 0.0}}
        old = Cider.__new__(Cider)
        old.__setstate__({**kept, "ref_len": cider.ref_len})
        assert old.compute_score(GTS, RES)[1].tolist() == cider.compute_score(GTS, RES)[1].tolist()
        old.__setstate__({"_n": 4, "_sigma": 6.0, "doc_frequency": None, "ref_len": None})
        assert old.compute_score(GTS, RES)[0] == pytest.approx(MEAN_CIDER)

    def test_cider_refuses_invalid_input(self) -> None:
        with pytest.raises(ParameterError):
            Cider(n=5)
        with pytest.raises(InputError):
            Cider({})
        with pytest.raises(AssertionError):
            Cider().compute_score({1: ["a"]}, {2: ["a"]})

    def test_cider_scorer_has_document_frequencies(self) -> None:
        train, _ = corpus()
        cider, counts = Cider(train), CiderScorer(train)
        assert counts.ctest == [None] * len(train)
        assert counts.doc_frequency == cider.doc_frequency
        scorer = CiderScorer(GTS, test=RES, doc_frequency=counts.doc_frequency, ref_len=counts.ref_len)
        score, scores = scorer.compute_score()
        expected, expected_scores = cider.compute_score(GTS, RES)
        assert score == pytest.approx(expected, abs=1e-12)
        assert scores.tolist() == pytest.approx(expected_scores.tolist(), abs=1e-12)


def test_scoring_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((subprocess, "Popen"), (os, "fork"), (os, "posix_spawn"), (os, "system")):
        monkeypatch.setattr(module, name, lambda *arguments, **named: pytest.fail("a process is started"))
    train, res = corpus(4)
    Cider(PTBTokenizer.tokenize(train)).compute_score(PTBTokenizer.tokenize(train), PTBTokenizer.tokenize(res))


def test_evaluation_module_exists_only_while_redirected() -> None:
    with redirected("evaluation"):
        assert importlib.import_module("evaluation").Cider is Cider
    assert "evaluation" not in sys.modules
