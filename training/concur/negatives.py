"""Captions that are wrong in one respect, made from captions by the parser of the package.

One word is exchanged for another of its kind that no caption of the image has, two nouns or adjectives change places,
the caption is negated, or it is damaged: shuffled, cut off, or with words repeated. What also occurs in an evaluation
is not used.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.parsing.parses import Parse
from captious.parsing.sources import ParsedCaptions, parser_with
from captious.text import PTB
from examples import Examples, letters

__all__ = ["WAYS", "Negative", "make_negatives"]

#: How captions are made wrong; what stands twice is tried first twice as often.
WAYS = (
    *("noun", "noun", "adjective", "verb", "preposition", "number"),
    *("nouns swapped", "nouns swapped", "adjectives swapped", "negated", "negated"),
    *("shuffled", "cut off", "repeated"),
)

_TAGS = {
    "noun": ("NN", "NNS"),
    "adjective": ("JJ",),
    "verb": ("VBG", "VBZ", "VBN"),
    "preposition": ("IN",),
    "number": ("CD",),
}
_OFTEN = 5  # a word must occur so often to take the place of another
_CLOSEST = 30  # words that may take the place of a word
_SAME = 0.6  # the cosine above which words are taken for synonyms


@dataclass(frozen=True)
class Negative:
    """A caption that is wrong.

    Args:
        caption: number of the caption that it was made from.
        way: one of ``WAYS``.
        words: its words.
    """

    caption: int
    way: str
    words: tuple[str, ...]


def make_negatives(
    examples: Examples,
    words: Sequence[str],
    vectors: NDArray[np.float32],
    *,
    ways: Sequence[str] = WAYS,
    seed: int = 0,
) -> dict[int | str, Negative]:
    """Return one wrong caption for almost every image.

    Args:
        examples: captions of images.
        words, vectors: words and their vectors, which say what words are of one kind.
        ways: those of ``WAYS`` that are tried.
        seed: random seed.
    """
    random = np.random.default_rng(seed)
    drawn = {image: int(random.choice(captions)) for image, captions in examples.images.items()}
    layer = ParsedCaptions(PTB, parser_with("bundled"))
    parses = layer.of_texts([examples.texts[caption] for caption in drawn.values()]).of_captions
    makers = _makers(_kinds(parses, words, vectors), random)
    names = examples.tokens.vocabulary.words()

    def words_of(image: int | str) -> set[str]:
        ids = [examples.tokens.ids[slice(*examples.tokens.offsets[i : i + 2])] for i in examples.images[image]]
        return {names[i] for i in np.concatenate(ids).tolist()}

    found = {}
    for (image, caption), parse in zip(drawn.items(), parses, strict=True):
        if len(parse.words) < 4:
            continue
        seen = words_of(image)
        for i in random.permutation(len(ways)).tolist():
            changed = makers[ways[i]](parse, seen)
            if changed is None or changed == [*parse.words]:
                continue
            if letters(" ".join(changed)) not in examples.kept_out:
                found[image] = Negative(caption, ways[i], tuple(changed))
                break
    return found


_Maker = Callable[[Parse, set[str]], list[str] | None]
_Kinds = dict[tuple[str, str], tuple[list[str], NDArray[np.float64]]]


def _kinds(parses: Sequence[Parse], words: Sequence[str], vectors: NDArray[np.float32]) -> _Kinds:
    """For each word and its part of speech others of its kind, and how likely each is to take its place."""
    numbers = {word: number for number, word in enumerate(words)}
    counts = Counter(pair for parse in parses for pair in zip(parse.words, parse.tags, strict=True))
    usual: dict[str, str] = {}
    for (word, tag), _ in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        usual[word] = tag
    of_tag = defaultdict(list)
    for (word, tag), count in sorted(counts.items()):
        if count >= _OFTEN and usual[word] == tag and word in numbers and word.isalpha():
            of_tag[tag].append(word)
    found: _Kinds = {}
    for tag in sorted({tag for tags in _TAGS.values() for tag in tags}):
        members = of_tag[tag]
        if len(members) < 2:
            continue
        rows = vectors[[numbers[word] for word in members]]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        often = np.sqrt([counts[word, tag] for word in members])
        for i, cosines in enumerate(rows @ rows.T):
            others = np.flatnonzero((cosines < _SAME) & (np.arange(len(members)) != i))
            closest = others[np.argsort(-cosines[others], kind="stable")[:_CLOSEST]]
            if len(closest):
                found[members[i], tag] = [members[j] for j in closest], often[closest] / often[closest].sum()
    return found


def _makers(kinds: _Kinds, random: np.random.Generator) -> dict[str, _Maker]:
    """Return the functions that make a caption wrong in each way, or return None where they cannot."""

    def exchanged(tags: tuple[str, ...]) -> _Maker:
        def make(parse: Parse, seen: set[str]) -> list[str] | None:
            places = [i for i, pair in enumerate(zip(parse.words, parse.tags, strict=True)) if pair in kinds]
            places = [i for i in places if parse.tags[i] in tags]
            if not places:
                return None
            place = int(random.choice(places))
            others, chances = kinds[parse.words[place], parse.tags[place]]
            other = others[int(random.choice(len(others), p=chances))]
            if other in seen:
                return None
            changed = [*parse.words]
            changed[place] = other
            if place and changed[place - 1] in ("a", "an"):
                changed[place - 1] = "an" if other[0] in "aeiou" else "a"
            return changed

        return make

    def swapped(tags: tuple[str, ...]) -> _Maker:
        def make(parse: Parse, seen: set[str]) -> list[str] | None:
            places = [i for i, tag in enumerate(parse.tags) if tag in tags and not _in_compound(parse, i)]
            pairs = [(i, j) for i in places for j in places if i < j and parse.words[i] != parse.words[j]]
            pairs = [(i, j) for i, j in pairs if not {"and", "or"} & {*parse.words[i:j]}]
            if not pairs:
                return None
            i, j = pairs[int(random.integers(len(pairs)))]
            changed = [*parse.words]
            changed[i], changed[j] = changed[j], changed[i]
            return changed

        return make

    return {
        **{way: exchanged(tags) for way, tags in _TAGS.items()},
        "nouns swapped": swapped(("NN", "NNS")),
        "adjectives swapped": swapped(("JJ",)),
        "negated": lambda parse, _: _negated(parse, random),
        "shuffled": lambda parse, _: [parse.words[i] for i in random.permutation(len(parse.words))],
        "cut off": lambda parse, _: _cut(parse, random),
        "repeated": lambda parse, _: _repeated(parse, random),
    }


def _in_compound(parse: Parse, place: int) -> bool:
    """Return whether this is a noun before another: a surf board."""
    return parse.tags[place].startswith("N") and parse.tags[place + 1 : place + 2] in (("NN",), ("NNS",))


def _negated(parse: Parse, random: np.random.Generator) -> list[str] | None:
    words, tags = parse.words, parse.tags
    choices: list[tuple[int, int, str]] = []  # from, to, what replaces it
    for i, word in enumerate(words):
        if word in ("is", "are"):
            choices.append((i + 1, i + 1, "not"))
        elif tags[i] == "VBG":
            choices.append((i, i, "not"))
        elif word == "with":
            choices.append((i, i + 1, "without"))
        elif word in ("a", "an") and tags[i + 1 : i + 2] in (("NN",), ("JJ",)):
            choices.append((i, i + 1, "no"))
    if not choices:
        return None
    start, end, other = choices[int(random.integers(len(choices)))]
    return [*words[:start], other, *words[end:]]


def _cut(parse: Parse, random: np.random.Generator) -> list[str]:
    n = len(parse.words)
    return [*parse.words[: int(random.integers(max(1, n // 4), max(2, n - 1)))]]


def _repeated(parse: Parse, random: np.random.Generator) -> list[str]:
    place = int(random.integers(len(parse.words)))
    end = min(len(parse.words), place + 1 + int(random.integers(3)))
    return [*parse.words[:end], *parse.words[place:end], *parse.words[end:]]
