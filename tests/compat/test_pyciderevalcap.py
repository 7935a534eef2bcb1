"""Rewards as in the authors' code: candidates in a list, frequencies from the corpus or from pickles."""

from __future__ import annotations

import importlib
import math
import pickle
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious import DocumentFrequencies
from captious.compat.pyciderevalcap.cider.cider import Cider
from captious.compat.pyciderevalcap.ciderD.ciderD import CiderD
from captious.errors import InputError, ParameterError
from tests.oracles import cider as oracle
from tests.support.corpora import large_corpus

#: Candidates of each image, as sequences are sampled in training.
SAMPLES = 3


def ids(words: list[str], numbers: dict[str, int]) -> str:
    """Return a caption as in training code: ids of words, with a 0 at the end."""
    return " ".join([*(str(numbers.setdefault(word, len(numbers) + 1)) for word in words), "0"])


def batch(seed: int = 0) -> tuple[dict[int, list[str]], list[dict[str, Any]], list[list[str]]]:
    """Return a batch of training: references by candidate, candidates, and the references of all images."""
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
    gts: dict[int, list[str]], res: list[dict[str, Any]], frequencies: oracle.Frequencies, plain: bool
) -> list[float]:
    score = oracle.cider if plain else oracle.cider_d
    return [
        score(candidate["caption"][0].split(), [text.split() for text in gts[candidate["image_id"]]], frequencies)
        for candidate in res
    ]


@pytest.mark.parametrize("plain", [False, True])
def test_corpus_mode_counts_a_document_for_each_candidate(plain: bool) -> None:
    gts, res, _ = batch()
    frequencies = oracle.frequencies([[text.split() for text in gts[candidate["image_id"]]] for candidate in res])
    score, scores = (Cider() if plain else CiderD()).compute_score(gts, res)
    assert scores.tolist() == pytest.approx(expected(gts, res, frequencies, plain), abs=1e-12)
    assert score == pytest.approx(np.mean(scores), abs=1e-14)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("form", ["count", "logarithm", "words", "ids", "python 2", "numpy"])
def test_published_frequency_pickles_are_read(form: str, plain: bool, tmp_path: Path) -> None:
    gts, res, groups = batch()
    frequencies = oracle.frequencies([[text.split() for text in group] for group in groups])
    counts: dict[Any, Any] = defaultdict(float, {ngram: float(n) for ngram, n in frequencies.counts.items()})
    size: Any = frequencies.documents
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
    assert scores.tolist() == pytest.approx(expected(gts, res, frequencies, plain), abs=1e-12)


def test_several_candidates_of_one_id_are_scored() -> None:
    gts = {1: ["a dog runs", "a dog is running"], 2: ["two cats sleep"]}
    res = [{"image_id": image, "caption": [text]} for image, text in [(1, "a dog"), (2, "a cat"), (1, "a dog runs")]]
    _, scores = CiderD().compute_score(gts, res)
    frequencies = oracle.frequencies([[text.split() for text in gts[candidate["image_id"]]] for candidate in res])
    assert scores.tolist() == pytest.approx(expected(gts, res, frequencies, plain=False), abs=1e-12)


@pytest.mark.parametrize(
    ("res", "of_the_original"),
    [
        ([{"image_id": 1, "caption": ["a", "dog"]}], AssertionError),
        (["a dog"], TypeError),
        ([{"image_id": 2, "caption": ["a dog"]}], KeyError),
        ([], ValueError),
    ],
)
def test_candidates_of_other_forms_are_refused(res: Any, of_the_original: type[Exception]) -> None:
    with pytest.raises(InputError) as error:
        CiderD().compute_score({1: ["a dog runs"]}, res)
    assert isinstance(error.value, of_the_original)


def test_a_missing_pickle_is_a_missing_file() -> None:
    with pytest.raises(FileNotFoundError, match="no document frequencies 'nothing'"):
        CiderD(df="nothing")


# ---- counts of n-grams


def scorer_of(plain: bool) -> Any:
    home = "cider.cider_scorer" if plain else "ciderD.ciderD_scorer"
    return importlib.import_module(f"captious.compat.pyciderevalcap.{home}").CiderScorer


@pytest.mark.parametrize("plain", [False, True])
def test_scorer_counts_the_corpus(plain: bool) -> None:
    gts, res, _ = batch()
    scorer = scorer_of(plain)(df_mode="corpus")
    for candidate in res:
        scorer += (candidate["caption"][0], gts[candidate["image_id"]])
    score, scores = scorer.compute_score()
    expected_score, expected_scores = (Cider() if plain else CiderD()).compute_score(gts, res)
    assert scores.tolist() == pytest.approx(expected_scores.tolist(), abs=1e-12)
    assert score == pytest.approx(expected_score, abs=1e-12)
    assert scorer.compute_score("corpus")[0] == score  # as the first version calls it
    assert scorer.ref_len == math.log(len(res))


@pytest.mark.parametrize("plain", [False, True])
def test_scorer_uses_a_frequency_pickle(plain: bool, tmp_path: Path) -> None:
    gts, res, groups = batch()
    frequencies = oracle.frequencies([[text.split() for text in group] for group in groups])
    path = tmp_path / "df.p"
    DocumentFrequencies.of_counts(frequencies.counts, frequencies.documents).to_pickle(path)
    scorer = scorer_of(plain)(df_mode=str(path))
    assert scorer.ref_len == math.log(frequencies.documents)
    assert scorer.document_frequency == dict(frequencies.counts)
    assert scorer.document_frequency["nothing", "like", "it"] == 0
    for candidate in res:
        scorer.cook_append(candidate["caption"][0], gts[candidate["image_id"]])
    assert scorer.compute_score()[1].tolist() == pytest.approx(expected(gts, res, frequencies, plain), abs=1e-12)
    first = scorer_of(plain)()
    first += scorer
    assert first.compute_score(str(path))[1].tolist() == scorer.compute_score()[1].tolist()
    scorer.clear()
    assert scorer.size() == 0
    with pytest.raises(ValueError, match="no candidates"):
        scorer.compute_score()


def test_frequencies_are_prepared_as_training_code_does(tmp_path: Path) -> None:
    _, _, groups = batch()
    scorer = scorer_of(plain=False)(df_mode="corpus")
    for group in groups:
        scorer.cook_append(None, group)
    scorer.compute_doc_freq()
    content = {"document_frequency": scorer.document_frequency, "ref_len": len(scorer.crefs)}
    (tmp_path / "train-idxs.p").write_bytes(pickle.dumps(content, protocol=2))
    read = DocumentFrequencies.from_pickle(tmp_path / "train-idxs.p")
    frequencies = oracle.frequencies([[text.split() for text in group] for group in groups])
    assert read.by_ngram() == dict(frequencies.counts)
    assert read.n_documents == len(groups)


def test_self_cider_compares_candidates_with_each_other() -> None:
    """As captioning code measures diversity: frequencies of the references, candidates with each other."""
    _, res, groups = batch()
    scorer = Cider(df="corpus")
    with pytest.raises(AssertionError):
        scorer.my_self_cider([["1 2", "1"]])
    for group in groups:
        scorer.cider_scorer += (None, group)
    scorer.cider_scorer.compute_doc_freq()
    scorer.cider_scorer.ref_len = np.log(float(len(scorer.cider_scorer.crefs)))
    frequencies = oracle.frequencies([[text.split() for text in group] for group in groups])
    sampled = [result["caption"][0] for result in res[:SAMPLES]]
    (matrix,) = scorer.my_self_cider([sampled])
    assert matrix.shape == (SAMPLES, SAMPLES)
    for row, candidate in enumerate(sampled):
        for column, reference in enumerate(sampled):
            assert matrix[row, column] == pytest.approx(
                oracle.cider(candidate.split(), [reference.split()], frequencies), abs=1e-12
            )
    score, scores = scorer.my_compute_score([groups[0], groups[1]], [sampled, sampled[::-1]])
    assert scores.shape == (2, SAMPLES)
    by_hand = [oracle.cider(text.split(), [ref.split() for ref in groups[0]], frequencies) for text in sampled]
    assert scores[0].tolist() == pytest.approx(by_hand, abs=1e-12)
    assert score == pytest.approx(scores.mean())
    assert scorer.compute_score({0: ["a b"]}, [{"image_id": 0, "caption": ["a b"]}])[0] == 0  # a corpus of its own


def test_scorer_copies_are_independent() -> None:
    scorer = scorer_of(plain=False)(n=3, sigma=2.0)
    scorer += ("a b", ["a b c"])
    scorer.compute_doc_freq()
    empty, copied = scorer.copy_empty(), scorer.copy()
    assert (empty.size(), copied.size(), copied.n, copied.sigma) == (0, 1, 3, 2.0)
    assert empty.document_frequency is scorer.document_frequency
    scorer += ("c", ["d"])
    assert copied.size() == 1


def test_cider_d_has_the_attributes_of_the_original() -> None:
    scorer = CiderD(sigma=15.0)
    assert (scorer._n, scorer._sigma, scorer._df) == (4, 15.0, "corpus")
    assert type(scorer.cider_scorer) is scorer_of(plain=False)
    assert scorer.cider_scorer.sigma == 6.0  # the code does not pass it on
    assert type(Cider().cider_scorer) is scorer_of(plain=True)
    with pytest.raises(ParameterError, match="up to order 5"):
        CiderD(n=5)


@pytest.mark.parametrize("way", ["changed", "replaced"])
def test_what_a_program_does_to_cider_scorer_counts(way: str, tmp_path: Path) -> None:
    gts, res, groups = batch()
    frequencies = oracle.frequencies([[text.split() for text in group] for group in groups])
    path = tmp_path / "df.p"
    DocumentFrequencies.of_counts(frequencies.counts, frequencies.documents).to_pickle(path)
    scorer = CiderD(df=str(path))
    before = scorer.compute_score(gts, res)[1]
    if way == "changed":
        scorer.cider_scorer.sigma = 2.0
    else:
        scorer.cider_scorer = scorer_of(plain=False)(df_mode=str(path), sigma=2.0)
    frequencies.counts["1",] = 3
    scorer.cider_scorer.document_frequency["1",] = 3.0
    scorer.cider_scorer.ref_len = math.log(100)
    changed = oracle.Frequencies(100, frequencies.counts)
    by_hand = [
        oracle.cider_d(each["caption"][0].split(), [text.split() for text in gts[each["image_id"]]], changed, sigma=2.0)
        for each in res
    ]
    score, scores = scorer.compute_score(gts, res)
    assert scores.tolist() == pytest.approx(by_hand, abs=1e-12) != before.tolist()
    assert score == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert scorer.cider_scorer.size() == 0


# ---- the evaluation


def test_tokenizer_accepts_candidates() -> None:
    tokenizer = importlib.import_module("captious.compat.pyciderevalcap.tokenizer.ptbtokenizer")
    candidates = [
        {"image_id": "x", "caption": "A dog."},
        {"image_id": "y", "caption": ""},
        {"image_id": "x", "caption": "B"},
    ]
    assert tokenizer.PTBTokenizer(_source="res").tokenize(candidates) == [
        {"image_id": "x", "caption": ["a dog"]},
        {"image_id": "y", "caption": [""]},
        {"image_id": "x", "caption": ["b"]},
    ]
    with pytest.raises(InputError, match="image_id"):
        tokenizer.PTBTokenizer("res").tokenize([{"caption": "a"}])


def test_evaluation_scores_and_prints_like_the_original(capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module("captious.compat.pyciderevalcap")
    gts = {1: [{"caption": "A dog runs."}, {"caption": "The dog is running!"}], 2: [{"caption": "Two cats sleep."}]}
    res = [{"image_id": 2, "caption": "Two cats."}, {"image_id": 1, "caption": "A dog runs fast."}]
    evaluation = module.CIDErEvalCap(gts, res, "corpus")
    scores_of = evaluation.evaluate()
    tokens = {1: ["a dog runs", "the dog is running"], 2: ["two cats sleep"]}
    tokenized = [{"image_id": 2, "caption": ["two cats"]}, {"image_id": 1, "caption": ["a dog runs fast"]}]
    assert (evaluation.gts, evaluation.res) == (tokens, tokenized)
    score, scores = Cider().compute_score(tokens, tokenized)
    score_d, scores_d = CiderD().compute_score(tokens, tokenized)
    assert scores_of == {"CIDEr": [*scores], "CIDErD": [*scores_d]}
    assert capsys.readouterr().out == (
        "tokenization...\ntokenized refs\ntokenized cands\nsetting up scorers...\n"
        f"computing CIDEr score...\nMean CIDEr score: {score:0.3f}\n"
        f"computing CIDEr-D score...\nMean CIDErD score: {score_d:0.3f}\n"
    )
    assert module.CIDErEvalCap(gts, res).df == "corpus"
