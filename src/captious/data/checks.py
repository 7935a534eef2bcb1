"""Checks of captions as text: debris of models, Markdown, prompts, repetitions.

``kinds.toml`` is the table: each kind with an example, what is searched for, and the rule that cleans it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from operator import not_
from pathlib import Path
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from captious.data.patterns import regex
from captious.files import tables
from captious.native import Marks


@dataclass(frozen=True)
class Kind:
    """A kind of caption that makes scores misleading.

    Args:
        predicate: the rest of the sentence "12 of 100 candidates ...", from its verb, in the plural.
        advice: the effect on scores, or the cause, and a remedy; ``{metrics}`` stands for the metrics of the run that
            it concerns.
        example: a text of this kind; empty for kinds that are not found by a pattern.
        pattern: the name of the pattern that is searched for; empty for none.
        marks: in lower case; texts with one of them are searched for the pattern, as every match contains one. An empty
            mark stands for any character beyond ASCII.
        rule: the rule that cleans it, which the advice ends with; empty for none.
        usual: the share of captions by people that may be of this kind; docs/long-captions.md has the counts.
        least: share of candidates below which it may be chance; 0 for kinds that are never chance.
        needs_references: it is detected by comparison with references.
        of_tokens: it only matters to metrics for English, whatever the references.
        of_length: it only matters to metrics that depend on length.
        before_scoring: only ``check`` reports it; the metrics concerned issue their own warnings.
        no_pairs: texts without two letters side by side are searched for the pattern, too.
    """

    predicate: str
    advice: str
    example: str = ""
    pattern: str = ""
    marks: tuple[str, ...] = ("",)
    rule: str = ""
    usual: float = 0.0
    least: float = 0.0
    needs_references: bool = False
    of_tokens: bool = False
    of_length: bool = False
    before_scoring: bool = False
    no_pairs: bool = False

    @property
    def alone(self) -> bool:
        """Whether it matters to metrics without references, too."""
        return not (self.needs_references or self.of_tokens or self.of_length or self.before_scoring)

    def place(self, text: str) -> int:
        """Return where the first match begins."""
        match = regex(self.pattern).search(text)
        return 0 if match is None else match.start()


#: The table of kinds, in the order of messages.
KINDS: Mapping[str, Kind] = {
    name: Kind(**fields) for name, fields in tables(Path(__file__).with_name("kinds.toml")).items()
}
#: Those of which an example shows what is found.
TEXT_KINDS: Mapping[str, Kind] = {name: kind for name, kind in KINDS.items() if kind.example}
_SEARCHED = tuple(name for name, kind in KINDS.items() if kind.pattern)
_PAIRS = tuple(map("".join, product(ascii_lowercase, repeat=2)))


def kinds_in(texts: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return masks of the texts of each kind, bool[n]: those of ``TEXT_KINDS``, empty ones, and several sentences."""
    masks = masks_of(_SEARCHED, texts)
    masks["prompt"] &= ~masks["refusal"]
    for row in np.flatnonzero(masks["html"] & masks["markdown"]).tolist():  # tags alone are both
        masks["markdown"][row] = regex("markdown").search(regex("tags").sub(" ", texts[row])) is not None
    masks["html"] &= ~masks["markdown"]  # whose rule removes both
    masks["empty"] = np.fromiter(map(not_, map(str.strip, texts)), bool, len(texts))
    return masks


def masks_of(names: tuple[str, ...], texts: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return masks of the texts of each kind, bool[n]; none of a kind that is so rare that it may be chance.

    Only texts with a mark of a kind are searched for its pattern, so kinds cost next to nothing for ordinary captions.

    Args:
        names: the names of at most 32 kinds.
        texts: n texts.
    """
    kinds, marks, no_pairs, least = _searched(names)
    found = marks.groups_in(tuple([text.lower().rstrip(" ") for text in texts]))  # no sentence ends before blanks
    bits = np.unpackbits(found.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little").T > 0
    masks = bits[: 2 * len(names) : 2] | no_pairs & ~bits[1 : 2 * len(names) : 2]
    for place, row in np.argwhere(masks).tolist():
        masks[place, row] = regex(kinds[place].pattern).search(texts[row]) is not None
    masks &= (masks.sum(axis=1) >= least * len(texts))[:, np.newaxis]
    return dict(zip(names, masks, strict=True))


@cache
def _searched(names: tuple[str, ...]) -> tuple[list[Kind], Marks, NDArray[np.bool_], NDArray[np.float64]]:
    """Return kinds, their marks, whether texts without a pair of letters are of each, and the least share of each."""
    kinds = [KINDS[name] for name in names]
    marks = Marks(tuple([marks for kind in kinds for marks in (kind.marks, _PAIRS if kind.no_pairs else ())]))
    no_pairs = np.array([kind.no_pairs for kind in kinds], bool)[:, np.newaxis]
    least = np.array([kind.least if kind.example else 0 for kind in kinds])  # sentences count whatever their number
    return kinds, marks, no_pairs, least


_REPEATED = 6  # words that a repetition has at least
_LONG_PIECE = 8  # words: no longer piece is looked for as a repetition
_LONG_TEXT = 25  # words of a text whose end is looked at
_DANGLING = 0.1  # share of texts that are cut off, at least, whose last word ends no sentence


def is_in_another_script(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Find texts in which most letters are not Latin."""
    mask = np.zeros(len(texts), bool)
    for i, text in enumerate(texts):
        if not text.isascii():
            letters = [character for character in text if character.isalpha()]
            latin = sum(character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in letters)
            mask[i] = 2 * latin < len(letters)
    return mask


def repeats_itself(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Find captions that repeat one to eight words three times or more in a row, at least six words in total.

    Args:
        ids: tokens of n captions, int32[n_tokens].
        offsets: int64[n + 1].

    Returns:
        bool[n].
    """
    n = len(offsets) - 1
    mask = np.zeros(n, bool)
    caption = np.repeat(np.arange(n), np.diff(offsets))
    for length in range(1, min(_LONG_PIECE, len(ids) // 3) + 1):
        is_repetition = (ids[length:] == ids[:-length]) & (caption[length:] == caption[:-length])
        more = max(2 * length, _REPEATED - length)  # words after the first piece
        total = np.concatenate([[0], np.cumsum(is_repetition)])
        run = total[more:] - total[:-more] == more
        mask[caption[np.flatnonzero(run)]] = True
    return mask


def is_cut_off(texts: Sequence[str], n_words: NDArray[np.int64], dangles: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find long texts that end within a sentence: those without a punctuation mark at their end.

    If most long texts have none, it may be missing everywhere, so some of them must end with a word that ends no
    sentence, as many of those that are cut off do.

    Args:
        texts: n texts.
        n_words: their lengths, int64[n].
        dangles: whether their last word ends no sentence, bool[n].
    """
    mask = np.zeros(len(texts), bool)
    candidates = np.flatnonzero(n_words >= _LONG_TEXT)
    for i in candidates.tolist():
        last = texts[i].rstrip().rstrip("\"'*_`)]”’»")[-1:]
        mask[i] = last.isalnum() or last in {",", ";", "-", "–"}
    n_cut, n_dangling = mask.sum(), (mask & dangles).sum()
    return mask if 2 * n_cut < len(candidates) or n_dangling >= _DANGLING * n_cut else np.zeros(len(texts), bool)
