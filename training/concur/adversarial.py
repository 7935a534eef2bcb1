"""How often metrics order adversarial pairs rightly: a human caption, and a text that must score lower.

    python training/concur/adversarial.py --data ../shared/data concur cider-d meteor
    python training/concur/adversarial.py --data ../shared/data --language de concur cider-d chrf

The captions are of images that are held out when coefficients are chosen, each against the other captions of its image.
The weights of the package were trained on them.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import captious
from captious.learned.caption_weights import CaptionWeights
from captious.metrics.contract.selection import select
from captious.text import PTB, Tokenizer, Tokens
from captious.text.stop_words import NLTK_STOP_WORDS
from examples import Examples, flickr30k
from negatives import make_negatives

_IMAGES = 3_000
_PAIRS = 300
_MADE = {
    "roles exchanged": ("nouns swapped",),
    "attributes exchanged": ("adjectives swapped",),
    "another number": ("number",),
    "negated": ("negated",),
    "another noun": ("noun",),
}
_NUMBERS = {
    **{"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9"},
    **{"ten": "10", "eleven": "11", "twelve": "12", "twenty": "20"},
}
_GERMAN_NUMBERS = {"zwei": "drei", "drei": "fünf", "vier": "zwei", "fünf": "drei", "sechs": "vier"}
_WITHOUT_STOP_WORDS = "content words only"
_GERMAN_NOUNS = 300  # the most frequent ones, which take the place of others
Pair = tuple[str, str, list[str]]  # right, wrong, references


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that train.py reads")
    parser.add_argument("--language", choices=("en", "de"), default="en", help="of the captions")
    parser.add_argument("metrics", nargs="+", help="names of metrics, as for captious score")
    options = parser.parse_args()
    metrics: list[str] = options.metrics
    settings = _settings(metrics, options.language)
    print("| | pairs | " + " | ".join(f"`{name}`" for name in metrics) + " |")
    print("|---" * (len(metrics) + 2) + "|")
    for name, pairs in _pairs(options.data) if options.language == "en" else _german_pairs(options.data):
        references = [own for _, _, own in pairs]
        right, wrong = (
            captious.score([pair[side] for pair in pairs], references, metrics, settings=settings) for side in (0, 1)
        )
        shares = []
        for metric in metrics:
            difference = right[metric].per_caption - wrong[metric].per_caption
            shares.append(100 * float(np.mean((difference > 1e-9) + 0.5 * (abs(difference) <= 1e-9))))
        print(f"| {name} | {len(pairs)} | " + " | ".join(f"{share:.0f}" for share in shares) + " |", flush=True)


def _settings(metrics: Sequence[str], language: str) -> captious.Settings:
    """Return settings with COCO's document frequencies, for metrics of English captions that take them (CIDEr-D).

    Those of a few hundred pairs would make scores depend on the pairs beside them.
    """
    if language != "en":
        return captious.Settings(language=language)
    use_them = any("idf" in type(item.metric).declared for item in select(metrics))
    return captious.Settings(idf="coco") if use_them else captious.Settings()


def _pairs(data: Path) -> Iterator[tuple[str, list[Pair]]]:
    """Yield pairs by what is wrong with their second caption."""
    examples = Examples.read(data).part(held_out=True)
    images = {image: captions for image, captions in examples.images.items() if len(captions) >= 4}
    examples = replace(examples, images=dict([*images.items()][:_IMAGES]))
    weights = CaptionWeights.load()
    texts = examples.texts
    for name, ways in _MADE.items():
        negatives = make_negatives(examples, weights.words, weights.vectors, ways=ways, seed=1)
        pairs, copies = [], []
        for image, negative in [*negatives.items()][:_PAIRS]:
            others = [texts[i] for i in examples.images[image].tolist() if i != negative.caption]
            wrong = " ".join(negative.words)
            pairs.append((texts[negative.caption], wrong, others))
            copies.append((others[0], wrong, [texts[negative.caption], *others[1:]]))
        yield name, pairs
        if name in ("negated", "another noun"):
            yield f"a reference, {name}", copies
        if name == "another noun":
            yield from _padded(copies, [own[0] for _, _, own in copies], "in the picture today", "and")
            yield "a reference, two other words", _twice(copies, examples, weights)
        if name == "another number":
            yield "its number in digits; another number", _digits(copies)
    captions = [[texts[i] for i in numbers] for numbers in [*examples.images.values()][:_PAIRS]]
    yield from _damaged(captions, PTB)


def _padded(copies: Sequence[Pair], texts: Sequence[str], more: str, joint: str) -> Iterator[tuple[str, list[Pair]]]:
    """Wrong copies of a reference with words behind: some that fit all captions, and a caption of another image."""
    texts = [*texts[1:], *texts[:1]]
    yield (
        "the same, words added",
        [(right, f"{_open(wrong)} {more}", own) for right, wrong, own in copies],
    )
    yield (
        "the same, a caption added",
        [
            (right, f"{_open(wrong)} {joint} {text}", own)
            for (right, wrong, own), text in zip(copies, texts, strict=True)
        ],
    )


def _open(text: str) -> str:
    return text.rstrip(" .")


def _twice(copies: Sequence[Pair], examples: Examples, weights: CaptionWeights) -> list[Pair]:
    """Return copies in which a second word is exchanged."""
    texts = [wrong for _, wrong, _ in copies]
    images: dict[int | str, NDArray[np.int64]] = {number: np.array([number]) for number in range(len(texts))}
    wrong = replace(examples, texts=tuple(texts), tokens=Tokens.of(texts, examples.tokenizer).split(), images=images)
    ways = ("noun", "adjective", "verb", "number")
    again = make_negatives(wrong, weights.words, weights.vectors, ways=ways, seed=2)
    return [(copies[i][0], " ".join(again[i].words), copies[i][2]) for i in range(len(copies)) if i in again]


def _digits(copies: Sequence[Pair]) -> list[Pair]:
    """Return the reference with its number in digits, and with another number as a word."""
    pairs = []
    for _, wrong, own in copies:
        words, others = PTB(own[0]), wrong.split()
        changed = [i for i, (word, other) in enumerate(zip(words, others, strict=False)) if word != other]
        if len(words) == len(others) and len(changed) == 1 and words[changed[0]] in _NUMBERS:
            words[changed[0]] = _NUMBERS[words[changed[0]]]
            pairs.append((" ".join(words), wrong, own))
    return pairs


def _damaged(captions: Sequence[Sequence[str]], tokenizer: Tokenizer) -> Iterator[tuple[str, list[Pair]]]:
    """Yield the first caption of each image against what is left of it, or the same with more words."""
    firsts = [own[0] for own in captions]
    words = [tokenizer(text) for text in firsts]
    changes = {
        "first half": [" ".join(own[: len(own) // 2]) for own in words],
        "said twice": [f"{_open(text)}. {text}" for text in firsts],
        "empty": [""] * len(firsts),
        _WITHOUT_STOP_WORDS: [" ".join(w for w in own if w not in NLTK_STOP_WORDS.words) for own in words],
        "200 words of other captions added": [
            " ".join([text, *tokenizer(" ".join(firsts[i + 1 :] + firsts[:i]))[:200]]) for i, text in enumerate(firsts)
        ],
        "words in random order": [" ".join(np.random.default_rng(i).permutation(own)) for i, own in enumerate(words)],
    }
    for name, wrong_texts in changes.items():
        yield name, [(own[0], wrong, [*own[1:]]) for own, wrong in zip(captions, wrong_texts, strict=True)]


def _german_pairs(data: Path) -> Iterator[tuple[str, list[Pair]]]:
    """Yield pairs of German captions; without a parser, nouns are known by their capitals."""
    examples = Examples.of(dict(flickr30k(data, "de")), "de").part(held_out=True)
    images = [[examples.texts[i] for i in numbers.tolist()] for numbers in examples.images.values()]
    images = [captions for captions in images if len(captions) >= 4][:_IMAGES]
    nouns = Counter(noun for captions in images for text in captions for noun in _german_nouns(text))
    frequent = [noun for noun, _ in nouns.most_common(_GERMAN_NOUNS)]
    draw = np.random.default_rng(1)

    def other_noun(text: str, captions: Sequence[str]) -> str | None:
        found = [noun for noun in _german_nouns(text) if noun in nouns]
        others = [noun for noun in frequent if not any(noun in caption for caption in captions)]
        if not found:
            return None
        return _replaced(text, found[int(draw.integers(len(found)))], others[int(draw.integers(len(others)))])

    def negated(text: str, _: Sequence[str]) -> str | None:
        return re.sub(r" ein(e|en|em|er)? (?=\w)", r" kein\1 ", text, count=1) if re.search(r" ein\w? ", text) else None

    def other_number(text: str, _: Sequence[str]) -> str | None:
        found = [number for number in _GERMAN_NUMBERS if re.search(rf"\b{number}\b", text, re.IGNORECASE)]
        return _replaced(text, found[0], _GERMAN_NUMBERS[found[0]]) if found else None

    ways = {"another noun": other_noun, "negated": negated, "another number": other_number}
    for name, change in ways.items():
        changed = [(captions, change(captions[0], captions)) for captions in images]
        made = [(captions, wrong) for captions, wrong in changed if wrong is not None and wrong != captions[0]][:_PAIRS]
        yield name, [(captions[0], wrong, captions[1:]) for captions, wrong in made]
        copies = [(captions[1], wrong, [captions[0], *captions[2:]]) for captions, wrong in made]
        yield f"a reference, {name}", copies
        if name == "another noun":
            yield from _padded(copies, [own[0] for _, _, own in copies], "heute auf dem Bild", "und")
    for name, pairs in _damaged(images[:_PAIRS], examples.tokenizer):
        if name != _WITHOUT_STOP_WORDS:  # of which there are only English ones
            yield name, pairs


def _german_nouns(text: str) -> list[str]:
    return re.findall(r"(?<!^)\b[A-ZÄÖÜ][a-zäöüß]+", text)


def _replaced(text: str, word: str, other: str) -> str:
    return re.sub(rf"\b{word}\b", other, text, count=1, flags=re.IGNORECASE)


if __name__ == "__main__":
    main()
