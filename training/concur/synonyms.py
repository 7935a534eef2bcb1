"""Writes synonyms.tsv: rare words of captions with words of the same meaning in WordNet.

    python training/concur/synonyms.py /usr/share/wordnet

The folder is that of WordNet 3.0's database files, as in Debian's package wordnet-base. Vectors of frequent words say
what is alike in captions; those of rare words do not. Two nouns, at least one of them rare, are a pair if they share a
meaning that is the first of one of them, in its most frequent part of speech, and the first or second of the other.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.learned.caption_weights import CaptionWeights
from captious.text.stop_words import NLTK_STOP_WORDS

__all__ = ["PLURALS", "SENSES", "frequencies", "read_license", "read_synonyms", "senses"]

_FILE = Path(__file__).with_name("synonyms.tsv")
_FREQUENT = 4_000  # words whose vectors are trusted
SENSES = 2  # of the other word, its most frequent ones
PLURALS = (("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("ies", "y"))


def read_license() -> str:
    """Return what the file says at its beginning: its source, and the license of WordNet, which is part of copies."""
    lines = _FILE.read_text("utf-8").splitlines()
    return "\n".join(line[2:] for line in lines if line.startswith("#"))


def read_synonyms(words: Sequence[str], language: str) -> NDArray[np.int32]:
    """Return pairs of numbers of words of one meaning, int32[n, 2]; there are pairs of English words only."""
    numbers = {word: number for number, word in enumerate(words)}
    lines = _FILE.read_text("utf-8").splitlines() if language == "en" else []
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    known = [[numbers[word] for word in pair] for pair in pairs if all(word in numbers for word in pair)]
    return np.array(known, np.int32).reshape(-1, 2)


def senses(folder: Path, kind: str) -> Mapping[str, list[str]]:
    """Return the senses of the lemmas of WordNet of a kind ("noun", "adj", ...), the most frequent first."""
    lines = (folder / f"index.{kind}").read_text("utf-8").splitlines()
    words = (line.split() for line in lines if not line.startswith(" "))
    return {lemma: others[-int(n) :] for lemma, _, n, *others in words}


def frequencies(folder: Path) -> Mapping[str, Mapping[str, int]]:
    """Return how often each lemma was used, by the number of its part of speech: 1 for nouns, 2 verbs, 3 and 5
    adjectives, 4 adverbs.
    """
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
        key, _, count = line.split()
        lemma, _, sense = key.partition("%")
        counts[lemma][sense[0]] += int(count)
    return counts


def _lemmas(word: str, nouns: Mapping[str, list[str]], irregular: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield the nouns that a word may be a form of, each with whether it is their plural."""
    if word in nouns:
        yield word, False
    for lemma in {irregular.get(word, ""), *(word[: -len(s)] + r for s, r in PLURALS if word.endswith(s))}:
        if lemma in nouns:
            yield lemma, True


def _pairs(words: Sequence[str], folder: Path) -> list[tuple[str, str]]:
    nouns = senses(folder, "noun")
    irregular = dict(line.split()[:2] for line in (folder / "noun.exc").read_text("utf-8").splitlines())
    counts = frequencies(folder)
    ranks: dict[tuple[str, bool], dict[str, tuple[int, bool]]] = defaultdict(dict)
    for word in (word for word in words if word not in NLTK_STOP_WORDS.words):
        for lemma, is_plural in _lemmas(word, nouns, irregular):
            of = counts[lemma]
            is_mainly = of["1"] >= max(of.values())  # 1: nouns
            for rank, sense in enumerate(nouns[lemma][:SENSES]):
                ranks[sense, is_plural].setdefault(word, (rank, is_mainly))
    frequent = {*words[:_FREQUENT]}
    found = {
        (min(one, other), max(one, other))
        for alike in ranks.values()
        for one, other in permutations(alike, 2)
        if alike[one] == (0, True) and not frequent >= {one, other}
    }
    return sorted(found)


if __name__ == "__main__":
    pairs = _pairs(CaptionWeights.load().words, Path(sys.argv[1]))
    header = "".join(f"# {line}".rstrip() + "\n" for line in read_license().splitlines())
    _FILE.write_text(header + "".join(f"{one}\t{other}\n" for one, other in pairs), "utf-8")
    print(f"{_FILE}: {len(pairs):,} pairs")
