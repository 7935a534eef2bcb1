"""Scores of other libraries, and the metrics that reproduce them: docs/where-numbers-come-from.md."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer

pytestmark = [pytest.mark.filterwarnings("ignore")]  # of the other libraries

EXAMPLES = Path(__file__).parents[2] / "examples"
IMAGES: dict[str, list[str]] = json.loads((EXAMPLES / "references.json").read_text(encoding="utf-8"))
RESULTS = json.loads((EXAMPLES / "improved.json").read_text(encoding="utf-8"))
CANDIDATES = [f"{result['caption'].capitalize()}{' .' if i % 2 else '.'}" for i, result in enumerate(RESULTS)]
REFERENCES = [IMAGES[str(result["image_id"])] for result in RESULTS]
# Contractions, hyphens, numbers and signs; references of equal distance in length, the longer one first.
CANDIDATES += ["A man's t-shirt says “50% off” & more", "The dog isn't on the 3 couches, is it?"]
REFERENCES += [
    ["A man in a T-shirt that says 50% off, & more", "A man's shirt: 50%"],
    ["The dogs aren't on 3 couches", "a dog!"],
]

Cut = Callable[[str], list[str]]


def score(metric: str, cut: Cut | None = None, n_references: int | None = None) -> Any:
    """Return the only result of a metric, with a function as its tokenizer."""
    settings = captious.Settings(tokenizer=captious.Tokenizer("theirs", cut)) if cut else None
    references = [texts[:n_references] for texts in REFERENCES]
    (result,) = captious.score(CANDIDATES, references, [metric], settings=settings).values()
    return result


def cut_13a(text: str) -> list[str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()(text.rstrip()).split()


def cut_rouge(stems: bool) -> Cut:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(stems).tokenize


def split(texts: Sequence[str]) -> list[list[str]]:
    return [text.split() for text in texts]


# ---- NLTK


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_bleu_equals_nltk(n: int) -> None:
    bleu = pytest.importorskip("nltk.translate.bleu_score")
    ours = score(f"bleu-{n}@paper:tokenizer=whitespace")
    weights = (1 / n,) * n
    theirs = bleu.corpus_bleu(list(map(split, REFERENCES)), split(CANDIDATES), weights)
    assert ours.score == pytest.approx(theirs, abs=1e-9)
    sentences = [
        bleu.sentence_bleu(split(texts), candidate.split(), weights)
        for texts, candidate in zip(REFERENCES, CANDIDATES, strict=True)
    ]
    np.testing.assert_allclose(ours.per_caption, sentences, rtol=0, atol=1e-9)


def test_nltk_counts_an_ngram_of_captions_that_are_too_short() -> None:
    bleu = pytest.importorskip("nltk.translate.bleu_score")
    candidates, references = ["a dog runs in the park", "a dog"], [["a dog runs in the park"], ["a dog"]]
    (ours,) = captious.score(candidates, references, ["bleu-4@paper:tokenizer=whitespace"]).values()
    assert ours.score == 1
    theirs = bleu.corpus_bleu(list(map(split, references)), split(candidates))
    assert theirs == pytest.approx((4 / 5 * 3 / 4) ** (1 / 4))


# ---- sacreBLEU and those that take its tokens


@pytest.mark.parametrize("lowercase", [False, True])
def test_bleu_equals_sacrebleu(lowercase: bool) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    ours = score("bleu-4@paper", lambda text: cut_13a(text.lower() if lowercase else text), 2)
    theirs = sacrebleu.corpus_bleu(
        CANDIDATES, list(zip(*(texts[:2] for texts in REFERENCES), strict=True)), lowercase=lowercase
    )
    assert ours.score == pytest.approx(theirs.score / 100, abs=1e-9)


def nmt_bleu(candidates: Sequence[list[str]], references: Sequence[Sequence[list[str]]]) -> float:
    """BLEU of the tutorial on neural machine translation, which ``evaluate.load("bleu")`` computes."""
    matches, ngrams, length, reference_length = [0] * 4, [0] * 4, 0, 0

    def counts(words: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    for candidate, others in zip(candidates, references, strict=True):
        length += len(candidate)
        reference_length += min(map(len, others))
        for n in range(4):
            most: Counter[tuple[str, ...]] = Counter()
            for other in others:
                most |= counts(other, n + 1)
            matches[n] += (counts(candidate, n + 1) & most).total()
            ngrams[n] += max(0, len(candidate) - n)
    ratio = length / reference_length
    precision = math.prod(m / total for m, total in zip(matches, ngrams, strict=True)) ** (1 / 4)
    return precision * (1.0 if ratio > 1 else math.exp(1 - 1 / ratio))


@pytest.mark.parametrize("words_kept", [None, 6])
def test_bleu_equals_hugging_face_evaluate(words_kept: int | None) -> None:
    pytest.importorskip("sacrebleu")
    candidates = [cut_13a(text)[:words_kept] for text in CANDIDATES]
    references = [list(map(cut_13a, texts)) for texts in REFERENCES]
    scorer = BleuScorer(n=4)
    for candidate, texts in zip(candidates, references, strict=True):
        scorer += (" ".join(candidate), list(map(" ".join, texts)))
    theirs = nmt_bleu(candidates, references)
    assert scorer.compute_score(option="shortest")[0][3] == pytest.approx(theirs, abs=1e-9)
    if words_kept:
        assert BleuScorer.compute_score(scorer, option="closest")[0][3] < theirs - 0.001


# ---- rouge_score


@pytest.mark.parametrize("stems", [False, True])
def test_rouge_l_equals_rouge_score(stems: bool) -> None:
    rouge = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = rouge.RougeScorer(["rougeL"], use_stemmer=stems)
    ours = score("rouge-l@lin2004:beta=1", cut_rouge(stems))
    theirs = [
        scorer.score_multi(texts, candidate)["rougeL"].fmeasure
        for texts, candidate in zip(REFERENCES, CANDIDATES, strict=True)
    ]
    np.testing.assert_allclose(ours.per_caption, theirs, rtol=0, atol=1e-9)
    assert ours.score == pytest.approx(np.mean(theirs), abs=1e-9)


@pytest.mark.parametrize("n", [1, 2])
def test_rouge_n_equals_rouge_score(n: int) -> None:
    """Its recall and precision with one reference; captious does not combine them."""
    rouge = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = rouge.RougeScorer([f"rouge{n}"])
    recall = score(f"rouge-{n}", cut_rouge(False), 1).per_caption
    precision = score(f"ngram-precision-{n}@paper", cut_rouge(False), 1).per_caption
    for i, (texts, candidate) in enumerate(zip(REFERENCES, CANDIDATES, strict=True)):
        theirs = scorer.score(texts[0], candidate)[f"rouge{n}"]
        assert recall[i] == pytest.approx(theirs.recall, abs=1e-9)
        assert precision[i] == pytest.approx(theirs.precision, abs=1e-9)


# ---- torchmetrics, in single precision


@pytest.mark.models
@pytest.mark.parametrize(("name", "cut"), [("BLEUScore", str.split), ("SacreBLEUScore", cut_13a)])
def test_bleu_equals_torchmetrics(name: str, cut: Cut) -> None:
    text = pytest.importorskip("torchmetrics.text")
    pytest.importorskip("sacrebleu")
    metric = getattr(text, name)()
    shorter_first = [sorted(texts, key=lambda other: len(cut(other))) for texts in REFERENCES]
    ours = score("bleu-4@paper", cut).score
    assert ours == pytest.approx(float(metric(CANDIDATES, shorter_first)), abs=1e-6)
    # Of two references of equal distance, it takes the first, captious and sacreBLEU the shorter one.
    two, lengths = ["a b c d e"], [["a b c d e f", "a b c d"]]
    assert float(metric(two, lengths)) == pytest.approx(math.exp(1 - 6 / 5), abs=1e-6)
    (ours,) = captious.score(two, lengths, ["bleu-1@paper:tokenizer=whitespace"]).values()
    assert ours.score == 1


@pytest.mark.models
@pytest.mark.parametrize("stems", [False, True])
def test_rouge_l_equals_torchmetrics(stems: bool) -> None:
    text = pytest.importorskip("torchmetrics.text")
    pytest.importorskip("rouge_score")
    metric = text.ROUGEScore(rouge_keys="rougeL", use_stemmer=stems)
    theirs = float(metric(CANDIDATES, REFERENCES)["rougeL_fmeasure"])
    assert score("rouge-l@lin2004:beta=1", cut_rouge(stems)).score == pytest.approx(theirs, abs=1e-6)


# ---- pycocoevalcap without its tokenizer, as in VLMEvalKit


@pytest.mark.parametrize(
    ("home", "name", "request_"),
    [
        ("bleu.bleu", "Bleu", "bleu-4:tokenizer=whitespace"),
        ("rouge.rouge", "Rouge", "rouge-l:tokenizer=spaces"),
        ("cider.cider", "Cider", "cider-d:tokenizer=whitespace"),
    ],
)
def test_scores_equal_pycocoevalcap_on_raw_captions(home: str, name: str, request_: str) -> None:
    scorer = getattr(pytest.importorskip(f"pycocoevalcap.{home}"), name)()
    theirs, each = scorer.compute_score(dict(enumerate(REFERENCES)), {i: [text] for i, text in enumerate(CANDIDATES)})
    if name == "Bleu":
        theirs, each = theirs[3], each[3]
    ours = score(request_)
    assert ours.score == pytest.approx(theirs, abs=1e-9)
    np.testing.assert_allclose(ours.per_caption, each, rtol=0, atol=1e-9)


# ---- the page


def test_documentation_names_the_tested_libraries() -> None:
    page = (Path(__file__).parents[2] / "docs" / "where-numbers-come-from.md").read_text(encoding="utf-8")
    requests = set(re.findall(r"`((?:bleu|rouge|cider|meteor)[\w.@:=,-]*[@:][\w.@:=,-]*)`", page))
    assert requests == {
        "bleu-4@paper:tokenizer=whitespace",
        "bleu-4@paper:tokenizer=13a",
        "rouge-l@lin2004:tokenizer=rouge,beta=1",
        "rouge-l@lin2004:tokenizer=rouge-stems,beta=1",
        "bleu-4:tokenizer=whitespace",
        "rouge-l:tokenizer=spaces",
        "cider-d:tokenizer=whitespace",
    }
