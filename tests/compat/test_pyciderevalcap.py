"""Rewards as the authors' code gives them: candidates in a list, frequencies from the corpus or from pickles."""

from __future__ import annotations

import importlib
import math
import pickle
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious import DocumentFrequencies
from captious.compat import redirected
from captious.compat.pyciderevalcap.cider.cider import Cider
from captious.compat.pyciderevalcap.ciderD.ciderD import CiderD
from captious.errors import InputError, ParameterError, ResourceError
from tests.oracles import cider as oracle
from tests.support.corpora import large_corpus

#: Candidates of each image, as sequences are sampled in training.
SAMPLES = 3


def ids(words: list[str], numbers: dict[str, int]) -> str:
    """A caption as training code gives it: ids of words, ended by a 0."""
    return " ".join([*(str(numbers.setdefault(word, len(numbers) + 1)) for word in words), "0"])


def batch(seed: int = 0) -> tuple[dict[int, list[str]], list[dict[str, Any]], list[list[str]]]:
    """A batch of training: references by candidate, candidates, and the references of all images."""
    corpus = large_corpus(20, seed=seed)
    candidates, references = corpus.candidates, corpus.references
    numbers: dict[str, int] = {}
    groups = [[ids(text, numbers) for text in group] for group in references]
    randomly = random.Random(seed)
    gts, res = {}, []
    for image, caption in enumerate(candidates):
        for sample in range(SAMPLES):
            words = ids(caption, numbers).split()
            randomly.shuffle(words)
            number = image * SAMPLES + sample
            gts[number] = groups[image]  # the same list, as there
            res.append({"image_id": number, "caption": [" ".join(words[: randomly.randint(1, len(words))])]})
    return gts, res, groups


def expected(
    gts: dict[int, list[str]], res: list[dict[str, Any]], known: oracle.Frequencies, plain: bool
) -> list[float]:
    score = oracle.cider if plain else oracle.cider_d
    return [score(each["caption"][0].split(), [text.split() for text in gts[each["image_id"]]], known) for each in res]


@pytest.mark.parametrize("plain", [False, True])
def test_corpus_mode_counts_a_document_for_each_candidate(plain: bool) -> None:
    gts, res, _ = batch()
    known = oracle.frequencies([[text.split() for text in gts[each["image_id"]]] for each in res])
    score, scores = (Cider() if plain else CiderD()).compute_score(gts, res)
    assert scores.tolist() == pytest.approx(expected(gts, res, known, plain), abs=1e-12)
    assert score == pytest.approx(np.mean(scores), abs=1e-14)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("form", ["count", "logarithm", "words", "ids", "python 2", "numpy"])
def test_pickles_in_the_wild(form: str, plain: bool, tmp_path: Path) -> None:
    gts, res, groups = batch()
    known = oracle.frequencies([[text.split() for text in group] for group in groups])
    counts: dict[Any, Any] = defaultdict(float, {ngram: float(n) for ngram, n in known.counts.items()})
    size: Any = known.documents
    if form == "logarithm":
        size = math.log(size)
    elif form == "ids":
        counts = {tuple(map(int, ngram)): n for ngram, n in counts.items()}
    elif form == "numpy":
        counts, size = {ngram: np.float64(n) for ngram, n in counts.items()}, np.float64(size)
    protocol = 2 if form == "python 2" else pickle.HIGHEST_PROTOCOL
    content = {"document_frequency": counts, "ref_len": size}
    (tmp_path / "df.p").write_bytes(pickle.dumps(content, protocol=protocol))
    scorer = (Cider if plain else CiderD)(df=str(tmp_path / "df.p"))
    _, scores = scorer.compute_score(gts, res)
    assert scores.tolist() == pytest.approx(expected(gts, res, known, plain), abs=1e-12)


def test_names_of_pickles_in_the_folder_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gts, res, groups = batch()
    counts = oracle.frequencies([[text.split() for text in group] for group in groups]).counts
    (tmp_path / "data").mkdir()
    DocumentFrequencies.of_counts(counts, len(groups)).to_pickle(tmp_path / "data" / "coco-train-idxs.p")
    monkeypatch.chdir(tmp_path)
    with redirected("pyciderevalcap"):
        module = importlib.import_module("pyciderevalcap.ciderD.ciderD")
        by_name = module.CiderD(df="coco-train-idxs").compute_score(gts, res)[1]
    assert by_name.tolist() == CiderD(df=tmp_path / "data" / "coco-train-idxs.p").compute_score(gts, res)[1].tolist()
    with pytest.raises(ResourceError, match="coco-val"):
        CiderD(df="coco-val")


def test_several_candidates_under_one_id() -> None:
    gts = {1: ["a dog runs", "a dog is running"], 2: ["two cats sleep"]}
    res = [{"image_id": image, "caption": [text]} for image, text in [(1, "a dog"), (2, "a cat"), (1, "a dog runs")]]
    _, scores = CiderD().compute_score(gts, res)
    known = oracle.frequencies([[text.split() for text in gts[each["image_id"]]] for each in res])
    assert scores.tolist() == pytest.approx(expected(gts, res, known, plain=False), abs=1e-12)


class TestPickles:
    def test_round_trip(self, tmp_path: Path) -> None:
        counts = Counter({("a",): 3, ("a", "dog"): 2, ("ein", "Hund", "läuft", "los"): 1})
        DocumentFrequencies.of_counts(counts, 5).to_pickle(tmp_path / "df.p")
        content = pickle.loads((tmp_path / "df.p").read_bytes())
        assert content == {"document_frequency": dict(counts), "ref_len": 5}
        again = DocumentFrequencies.from_pickle(tmp_path / "df.p")
        assert again.checksum == DocumentFrequencies.of_counts(counts, 5).checksum

    def test_frequencies_alone_need_the_number_of_documents(self, tmp_path: Path) -> None:
        (tmp_path / "df.p").write_bytes(pickle.dumps({("a",): 2.0}))
        with pytest.raises(ParameterError, match="of how many documents"):
            DocumentFrequencies.from_pickle(tmp_path / "df.p")
        assert DocumentFrequencies.from_pickle(tmp_path / "df.p", n_documents=3).n_documents == 3

    @pytest.mark.parametrize(
        "content",
        [
            [("a",)],
            {"document_frequency": {"a": 1}, "ref_len": 2},
            {"document_frequency": {("a",): 1.5}, "ref_len": 2},
            {"document_frequency": {("a",): 9}, "ref_len": 2.5},
            {"document_frequency": {("a",): 1}, "ref_len": float("nan")},
            {"document_frequency": {("a",) * 5: 1}, "ref_len": 2},
        ],
    )
    def test_others_are_refused(self, content: object, tmp_path: Path) -> None:
        (tmp_path / "df.p").write_bytes(pickle.dumps(content))
        with pytest.raises(ResourceError, match="not a pickle of document frequencies"):
            DocumentFrequencies.from_pickle(tmp_path / "df.p")

    def test_nothing_in_them_is_executed(self, tmp_path: Path) -> None:
        class Hostile:
            def __reduce__(self) -> tuple[Any, ...]:
                return Path.touch, (tmp_path / "touched",)

        (tmp_path / "df.p").write_bytes(pickle.dumps({"document_frequency": Hostile(), "ref_len": 2}))
        with pytest.raises(ResourceError, match="it contains"):
            DocumentFrequencies.from_pickle(tmp_path / "df.p")
        assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    "res",
    [
        [],
        [{"image_id": 1}],
        [{"image_id": 1, "caption": "a dog"}],
        [{"image_id": 1, "caption": ["a", "dog"]}],
        [{"image_id": 7, "caption": ["a"]}],
        ["a dog"],
    ],
)
def test_candidates_of_other_forms_are_refused(res: Any) -> None:
    with pytest.raises(InputError):
        CiderD().compute_score({1: ["a dog runs"]}, res)
