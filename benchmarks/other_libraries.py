"""BLEU, METEOR, ROUGE and CIDEr of the same captions in other libraries.

    python benchmarks/other_libraries.py [--system NAME]

README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import statistics
import warnings
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import captious
from captious.compat.pycocoevalcap.bleu_scorer import BleuScorer
from measurement import default_data, print_table, read_system

Texts: TypeAlias = Sequence[str]
#: Candidates and the references of each, to a score from 0 to 1 (CIDEr: to 10).
Figure: TypeAlias = Callable[[Texts, Sequence[Texts]], float]


def with_captious(request: str) -> Figure:
    def figure(candidates: Texts, references: Sequence[Texts]) -> float:
        (result,) = captious.score(candidates, references, [request]).values()
        return float(result.score)

    return figure


def nltk_words(text: str) -> list[str]:
    """Of ``word_tokenize``, but for its sentences, which need files of their own."""
    from nltk.tokenize import word_tokenize

    return list(word_tokenize(text, preserve_line=True))


def lower_words(text: str) -> list[str]:
    return nltk_words(text.lower())


def nltk_corpus(cut: Callable[[str], list[str]]) -> Figure:
    def figure(candidates: Texts, references: Sequence[Texts]) -> float:
        from nltk.translate.bleu_score import corpus_bleu

        return float(corpus_bleu([list(map(cut, texts)) for texts in references], list(map(cut, candidates))))

    return figure


def nltk_sentences(smoothing: str) -> Figure:
    def figure(candidates: Texts, references: Sequence[Texts]) -> float:
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

        smooth = getattr(SmoothingFunction(), smoothing)
        pairs = zip(candidates, references, strict=True)
        return statistics.fmean(
            sentence_bleu([text.split() for text in texts], candidate.split(), smoothing_function=smooth)
            for candidate, texts in pairs
        )

    return figure


def nltk_meteor(cut: Callable[[str], list[str]]) -> Figure:
    def figure(candidates: Texts, references: Sequence[Texts]) -> float:
        from nltk.translate.meteor_score import meteor_score

        pairs = zip(candidates, references, strict=True)
        return statistics.fmean(meteor_score(list(map(cut, texts)), cut(candidate)) for candidate, texts in pairs)

    return figure


def sacrebleu(**options: Any) -> Figure:
    def figure(candidates: Texts, references: Sequence[Texts]) -> float:
        from sacrebleu import corpus_bleu

        return float(corpus_bleu(candidates, list(zip_longest(*references)), **options).score) / 100

    return figure


def evaluate_bleu(candidates: Texts, references: Sequence[Texts]) -> float:
    """Return the formula of Hugging Face's module, whose script is downloaded when it is loaded."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    cut = Tokenizer13a()
    scorer = BleuScorer(n=4)
    for candidate, texts in zip(candidates, references, strict=True):
        scorer += (cut(candidate), list(map(cut, texts)))
    return float(scorer.compute_score(option="shortest")[0][3])


def rouge(name: str, *, stems: bool = False) -> Figure:
    def figure(candidates: Texts, references: Sequence[Texts]) -> float:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer([name], use_stemmer=stems)
        pairs = zip(candidates, references, strict=True)
        return statistics.fmean(scorer.score_multi(texts, candidate)[name].fmeasure for candidate, texts in pairs)

    return figure


def torch_bleu(name: str) -> Figure:
    def figure(candidates: Texts, references: Sequence[Texts]) -> float:
        import torchmetrics.text

        return float(getattr(torchmetrics.text, name)()(candidates, references))

    return figure


def torch_rouge(candidates: Texts, references: Sequence[Texts]) -> float:
    from torchmetrics.text import ROUGEScore

    return float(ROUGEScore(rouge_keys="rougeL")(candidates, references)["rougeL_fmeasure"])


def untokenized(name: str) -> Figure:
    """Return a scorer of pycocoevalcap on raw captions, as VLMEvalKit calls it."""

    def figure(candidates: Texts, references: Sequence[Texts]) -> float:
        from pycocoevalcap.bleu.bleu import Bleu
        from pycocoevalcap.cider.cider import Cider
        from pycocoevalcap.rouge.rouge import Rouge

        scorer = {"Bleu_4": Bleu, "ROUGE_L": Rouge, "CIDEr": Cider}[name]()
        with contextlib.redirect_stdout(io.StringIO()):
            score, _ = scorer.compute_score(dict(enumerate(references)), {i: [c] for i, c in enumerate(candidates)})
        return float(score[3] if name == "Bleu_4" else score)

    return figure


COCO = "COCO toolkit, captious"
FIGURES: dict[str, dict[str, Figure]] = {
    "BLEU-4": {
        COCO: with_captious("bleu-4"),
        "VLMEvalKit": untokenized("Bleu_4"),
        "nltk corpus_bleu, split()": nltk_corpus(str.split),
        "nltk corpus_bleu, word_tokenize(lower())": nltk_corpus(lower_words),
        "nltk sentence_bleu, split(), mean": nltk_sentences("method0"),
        "nltk sentence_bleu, split(), method1, mean": nltk_sentences("method1"),
        "sacrebleu corpus_bleu": sacrebleu(),
        "sacrebleu corpus_bleu, lowercase": sacrebleu(lowercase=True),
        "evaluate bleu": evaluate_bleu,
        "torchmetrics BLEUScore": torch_bleu("BLEUScore"),
        "torchmetrics SacreBLEUScore": torch_bleu("SacreBLEUScore"),
    },
    "METEOR": {
        COCO: with_captious("meteor"),
        "nltk meteor_score, split(), mean": nltk_meteor(str.split),
        "nltk meteor_score, word_tokenize, mean; evaluate meteor": nltk_meteor(nltk_words),
    },
    "ROUGE-L": {
        COCO: with_captious("rouge-l"),
        "VLMEvalKit": untokenized("ROUGE_L"),
        "rouge_score rougeL, mean; evaluate rouge": rouge("rougeL"),
        "rouge_score rougeL, use_stemmer, mean": rouge("rougeL", stems=True),
        "torchmetrics ROUGEScore": torch_rouge,
    },
    "ROUGE-1": {"captious rouge-1": with_captious("rouge-1"), "rouge_score rouge1, mean": rouge("rouge1")},
    "ROUGE-2": {"captious rouge-2": with_captious("rouge-2"), "rouge_score rouge2, mean": rouge("rouge2")},
    "CIDEr": {COCO: with_captious("cider-d"), "VLMEvalKit": untokenized("CIDEr")},
}


def as_sentence(caption: str) -> str:
    """With a capital at its beginning and a full stop at its end."""
    text = caption.rstrip(" .")
    return f"{text[:1].upper()}{text[1:]}."


def shown(figure: Figure, candidates: Texts, references: Sequence[Texts]) -> str:
    try:
        return f"{100 * figure(candidates, references):.2f}"
    except ImportError as error:
        return f"no {error.name}"
    except LookupError:
        return "no WordNet"  # of NLTK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real captions")
    parser.add_argument("--system", default="zhou-et-al-2017", help="whose captions of the Karpathy test images")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    warnings.simplefilter("ignore")
    with gzip.open(options.data / "coco" / "karpathy_test_refs.json.gz", "rt", encoding="utf-8") as file:
        references = {int(image): texts for image, texts in json.load(file).items()}
    output = read_system(options.data, options.system)
    written = [output[image] for image in references]
    sentences = list(map(as_sentence, written))
    texts = list(references.values())
    rows = [["", "", "as written", "as sentences"]]
    for metric, figures in FIGURES.items():
        for name, figure in figures.items():
            rows.append([metric, name, shown(figure, written, texts), shown(figure, sentences, texts)])
    print(f"{options.system}, {len(texts):,} images with {min(map(len, texts))} to {max(map(len, texts))} references")
    print_table(rows)


if __name__ == "__main__":
    main()
