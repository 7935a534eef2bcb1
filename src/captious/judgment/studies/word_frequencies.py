"""Frequencies of words in human and machine captions.

Cui et al. 2018 (LEIC), figure 4. The human captions are one reference of each image, so that people and systems have
the same number of captions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, read_captions, read_references
from captious.data.hold_out import hold_out
from captious.errors import ParameterError
from captious.judgment.protocols import PEOPLE
from captious.judgment.studies.shared.study_sources import check_systems, checksums, name_of_file
from captious.judgment.study_result import Curve, Curves, Study
from captious.phrases import counted
from captious.progress import steps
from captious.random_seed import DEFAULT_SEED, checked_seed
from captious.text import PTB, Tokens

#: Name of the human captions in tables.
_POINTS = 200  # points per curve


def word_frequencies(
    systems: Mapping[str, object],
    references: object,
    n_words: int = 50,
    *,
    subset: bool = False,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return how often people and systems use the most frequent words of people, and how many words they use.

    Args:
        systems: the captions of systems by name, in any supported form.
        references: human captions in any supported form; images with a single one are left out.
        n_words: number of words: the most frequent ones of people.
        subset: use only the images that references and all systems have.
        seed: random seed of the reference of each image that is the human caption.

    Returns:
        One record per word, the most frequent first: word, then occurrences per 1,000 words in the captions of people
        and of each system. A picture of the share of all words that the most frequent ones of each account for.

    Raises:
        ParameterError: no systems, one named people, or no words requested.
        Others as ``captious.score``, about captions.
    """
    check_systems(systems)
    if n_words < 1:
        raise ParameterError(f"{n_words} is not a number of words", help="ask for at least one")
    table, data = read_references(references), checksums(references)
    people, left_out = hold_out(table, checked_seed(seed))
    counts: dict[str, Counter[str]] = {}
    with steps([PEOPLE, *systems], str) as names:
        for name in names:
            captions = (
                people
                if name == PEOPLE
                else read_captions(systems[name], people.references, subset=subset or left_out > 0)
            )
            counts[name] = _counts(captions)
    frequent = [word for word, _ in counts[PEOPLE].most_common(n_words)]
    rates = {name: 1000 / max(1, of_words.total()) for name, of_words in counts.items()}
    records = [
        {"word": word, **{name: of_words[word] * rates[name] for name, of_words in counts.items()}} for word in frequent
    ]
    sentences = [
        f"{name}: {counted(of_words.total(), 'word')}, {counted(len(of_words), 'different one')}; {_half(of_words)} "
        "make up half."
        for name, of_words in counts.items()
    ]
    lines = {name: _cumulative(of_words) for name, of_words in counts.items()}
    return Study(
        "frequencies",
        f"Words of human and machine captions: {name_of_file(references, table.name)}, {counted(len(people), 'image')}",
        ("word", *counts),
        records,
        {},
        {**data, **checksums(*systems.values())},
        {"words": n_words, "tokenizer": PTB.name, "seed": seed},
        pictures={"frequencies": Curves("Most frequent words", "words", "share of all words", lines, logarithmic=True)},
        notes=[
            f"Occurrences per 1,000 words. {PEOPLE.capitalize()}: one reference of each image.",
            *sentences,
            *([f"Excluded: {counted(left_out, 'image')} with a single reference."] if left_out else []),
        ],
    )


def _counts(captions: Captions) -> Counter[str]:
    """Return the frequency of each word in the candidates."""
    tokens = Tokens.of(captions.candidates, PTB).split()
    names = tokens.vocabulary.words()
    of_ids = np.bincount(tokens.ids, minlength=len(names)).tolist()
    return Counter({word: n for word, n in zip(names, of_ids, strict=True) if n})


def _half(counts: Counter[str]) -> int:
    """Return the number of the most frequent words that make up half of all occurrences."""
    shares = _shares(counts)
    return int(np.searchsorted(shares, 0.5)) + 1 if len(shares) else 0


def _shares(counts: Counter[str]) -> NDArray[np.float64]:
    """Return the cumulative share of the n most frequent words, float64[n_different_words]."""
    ordered = np.array(sorted(counts.values(), reverse=True), np.float64)
    return np.asarray(np.cumsum(ordered) / max(1.0, ordered.sum()))


def _cumulative(counts: Counter[str]) -> Curve:
    shares = _shares(counts)
    ranks = np.unique(np.geomspace(1, max(1, len(shares)), _POINTS).astype(np.int64))
    ranks = ranks[ranks <= len(shares)]
    return Curve(ranks.astype(np.float64), shares[ranks - 1])
