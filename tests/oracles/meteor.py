"""METEOR 1.5 for English as the COCO caption toolkit runs it: normalizer, matches, alignment, statistics, score.

Its word lists are plain dictionaries, so that a test can give it a handful of words of its own. ``Tables.read`` makes
them from the published files.
"""

from __future__ import annotations

import gzip
import itertools
import math
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from Stemmer import Stemmer

Words = Sequence[str]
Phrase = tuple[str, ...]

#: Name and weight, in METEOR's order.
MODULES = {"exact": 1.0, "stem": 0.6, "synonym": 0.8, "paraphrase": 0.6}
BEAM = 40


# ---- the normalizer: regular expressions one after the other

_LETTER = r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u017E\u0400-\u0527\uA640-\uA66E\uA67E-\uA697\u1D00-\u1D7F"
_KEPT_DOT = "\ud800"  # half a character: no text has it
_RULES: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (rf"([^{_LETTER}0-9 \t\n\r\f\v.'`,\-‘’])", r" \1 "),
    (r"\.\.+", lambda dots: f" {_KEPT_DOT * len(dots[0])} "),
    (r"([^0-9]),([^0-9])", r"\1 , \2"),
    (r"([0-9]),([^0-9])", r"\1 , \2"),
    (r"([^0-9]),([0-9])", r"\1 , \2"),
    (r"[`‘’]", "'"),
    (r"[“”]|''", ' " '),
    (r"–|--", "-"),
    (rf"([{_LETTER}0-9.])-([{_LETTER}0-9])", r"\1 \2"),
    (rf"([^{_LETTER}])'([^{_LETTER}])", r"\1 ' \2"),
    (rf"([^{_LETTER}0-9])'([{_LETTER}])", r"\1 ' \2"),
    (rf"([{_LETTER}])'([^{_LETTER}])", r"\1 ' \2"),
    (rf"([{_LETTER}])'([{_LETTER}])", r"\1 '\2"),
    (r"([0-9])'(s)", r"\1 '\2"),
]
_BLANK = r"[ \t\n\r\f]+"
_OTHER_BLANK = r"[\u00A0\u2000-\u200A\u202F\u205F\u3000]"
_ABBREVIATIONS = """
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con
    Corp Cpl DR Dr Drs Ens Gen Gov Hon Hr Hosp Insp Lt MM MR MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Op Ord Pfc Ph
    Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr St Supt Surg v vs i.e rev e.g Nos Nr
"""
_BEFORE_NUMBERS = frozenset({"No", "Art", "pp"})


def normalize(line: str) -> list[str]:
    """Return the words of a line."""
    line = f" {line} "
    for pattern, instead in _RULES:
        line = re.sub(pattern, instead, line)
    pieces = [piece for piece in re.split(_BLANK, line) if piece]
    pieces = [_without_final_dot(piece, after) for piece, after in itertools.pairwise([*pieces, ""])]
    line = re.sub(_OTHER_BLANK, " ", " ".join(pieces)).replace(_KEPT_DOT, ".").lower()
    return [word for word in re.split(_BLANK, line) if word]


def _without_final_dot(piece: str, after: str) -> str:
    if len(piece) < 2 or not piece.endswith("."):
        return piece
    head = piece[:-1]
    if "." in head and re.search(f"[{_LETTER}]", head):
        return piece.replace(".", "")
    if head in _ABBREVIATIONS.split() or re.match("[a-z]", after):
        return piece
    if head in _BEFORE_NUMBERS and re.match("[0-9]", after):
        return piece
    return f"{head} ."


# ---- what is known about words


@dataclass(frozen=True)
class Tables:
    """METEOR's word lists.

    Args:
        synsets: numbers of the synonym sets of a word.
        bases: words that an irregular form comes from.
        function_words: words that count less.
        paraphrases: what a phrase may be replaced by, in the order of the table.
    """

    synsets: dict[str, set[int]] = field(default_factory=dict)
    bases: dict[str, list[str]] = field(default_factory=dict)
    function_words: frozenset[str] = frozenset()
    paraphrases: dict[Phrase, list[Phrase]] = field(default_factory=dict)

    @classmethod
    def read(cls, jar: Path, paraphrases: Path, words: Iterable[str]) -> Tables:
        """Return the published tables; of the paraphrases those that are made of these words only."""
        known = set(words)
        with zipfile.ZipFile(jar) as archive:
            synsets, exceptions, functions = (
                archive.read(name).decode().splitlines()
                for name in ("synonym/english.synsets", "synonym/english.exceptions", "function/english.words")
            )
        bases: dict[str, list[str]] = defaultdict(list)
        for base, forms in zip(exceptions[::2], exceptions[1::2], strict=True):
            for form in forms.split():
                bases[form].append(base)
        table: dict[Phrase, list[Phrase]] = defaultdict(list)
        with gzip.open(paraphrases, "rt", encoding="utf-8", newline="\n") as file:
            for _, phrase, paraphrase in zip(file, file, file, strict=True):
                left, right = tuple(phrase.split()), tuple(paraphrase.split())
                if known.issuperset(left) and known.issuperset(right):
                    table[left].append(right)
        sets = {word: set(map(int, ids.split())) for word, ids in zip(synsets[::2], synsets[1::2], strict=True)}
        return cls(sets, dict(bases), frozenset(functions), dict(table))

    def synsets_of(self, word: str) -> set[int]:
        """Return sets of the word itself and of its base forms."""
        own = self.synsets.get(word, set())
        if word in self.bases:
            return own.union(*(self.synsets.get(base, set()) for base in self.bases[word]))
        return own | self.synsets.get(self._base_form(word), set())

    def _base_form(self, word: str) -> str:
        if word.endswith("ss") or len(word) <= 2:
            return word
        for ending, instead in _ENDINGS:
            base = word.removesuffix(ending) + instead
            if word.endswith(ending) and base in self.synsets:
                return base
        return ""


_ENDINGS = [("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man")]
_ENDINGS += [("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")]
_ENDINGS += [("er", ""), ("est", ""), ("er", "e"), ("est", "e")]


# ---- matches


@dataclass(frozen=True)
class Match:
    """Words of the candidate that may stand for words of the reference."""

    start: int
    length: int
    reference_start: int
    reference_length: int
    module: str

    @property
    def candidate_words(self) -> range:
        return range(self.start, self.start + self.length)

    @property
    def reference_words(self) -> range:
        return range(self.reference_start, self.reference_start + self.reference_length)


def find_matches(candidate: Words, reference: Words, tables: Tables, modules: Iterable[str]) -> list[list[Match]]:
    """Return all matches, by the reference word where they begin, in the order in which METEOR finds them."""
    found: list[list[Match]] = [[] for _ in reference]
    asked = [module for module in MODULES if module in set(modules)]
    if list(candidate) == list(reference):
        asked = asked[:1]
    stem = Stemmer("english").stemWord

    def alike(module: str, word: str, other: str) -> bool:
        if module == "exact":
            return word == other
        if module == "stem":
            return word != other and stem(word) == stem(other)
        return word != other and bool(tables.synsets_of(word) & tables.synsets_of(other))

    for module in asked:
        if module == "paraphrase":
            continue
        for j, word in enumerate(reference):
            for i, other in enumerate(candidate):
                if alike(module, word, other):
                    found[j].append(Match(i, 1, j, 1, module))
    if "paraphrase" in asked:
        for j, phrase, paraphrase in _rewritings(reference, tables):
            for i in _places(paraphrase, candidate):
                found[j].append(Match(i, len(paraphrase), j, len(phrase), "paraphrase"))
        for i, phrase, paraphrase in _rewritings(candidate, tables):
            for j in _places(paraphrase, reference):
                found[j].append(Match(i, len(phrase), j, len(paraphrase), "paraphrase"))
    return found


def _rewritings(words: Words, tables: Tables) -> Iterable[tuple[int, Phrase, Phrase]]:
    """Yield the place of a phrase of the table, the phrase, and a paraphrase."""
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            phrase = tuple(words[start:end])
            for paraphrase in tables.paraphrases.get(phrase, []):
                yield start, phrase, paraphrase


def _places(phrase: Phrase, words: Words) -> list[int]:
    return [i for i in range(len(words)) if tuple(words[i : i + len(phrase)]) == phrase]


# ---- the alignment


@dataclass(frozen=True)
class Way:
    """A way through the reference up to the word ``next``."""

    taken: tuple[Match, ...] = ()
    used: frozenset[int] = frozenset()  # words of the candidate
    words: int = 0  # of both sides, weighted
    chunks: int = 0
    next: int = 0
    last_end: int = -1
    distance: int = 0

    def with_match(self, match: Match, *, count_distance: bool) -> Way:
        weight = 1.0 if match.module == "exact" else 0.5
        broken = self.last_end not in (-1, match.start)
        return Way(
            (*self.taken, match),
            self.used.union(match.candidate_words),
            self.words + math.floor(weight * match.length) + math.floor(weight * match.reference_length),
            self.chunks + broken,
            match.reference_words.stop,
            match.candidate_words.stop,
            self.distance + (abs(match.start - match.reference_start) if count_distance else 0),
        )

    def without(self) -> Way:
        """Close the chunk, if one is open."""
        return replace(self, chunks=self.chunks + (self.last_end != -1), last_end=-1)


def best_first(ways: Iterable[Way]) -> list[Way]:
    return sorted(ways, key=lambda way: (-way.words, way.chunks, way.distance))


def align(candidate: Words, reference: Words, tables: Tables, modules: Iterable[str] = MODULES) -> list[Match]:
    """Return the matches that METEOR makes, in the order of the reference."""
    found = find_matches(candidate, reference, tables, modules)
    every = [match for matches in found for match in matches]
    on_candidate = [sum(i in match.candidate_words for match in every) for i in range(len(candidate))]
    on_reference = [sum(j in match.reference_words for match in every) for j in range(len(reference))]
    fixed = {
        matches[0].reference_start: matches[0]
        for matches in found
        if len(matches) == 1
        and all(on_candidate[i] == 1 for i in matches[0].candidate_words)
        and all(on_reference[j] == 1 for j in matches[0].reference_words)
    }
    fixed_words = {j for match in fixed.values() for j in match.reference_words}
    ways = [Way(used=frozenset(i for match in fixed.values() for i in match.candidate_words))]
    for j in range(len(reference)):
        ways = best_first(ways)[:BEAM]
        grown: list[Way] = []
        for way in ways:
            if j < way.next:
                grown.append(way)
            elif j in fixed_words:
                if j in fixed:
                    grown.append(way.with_match(fixed[j], count_distance=True))
            else:
                for match in found[j]:
                    if not way.used.intersection(match.candidate_words) and not fixed_words.intersection(
                        match.reference_words
                    ):
                        # The distance counts for the way that goes on without the match, not for the one with it.
                        grown.append(way.with_match(match, count_distance=False))
                        way = replace(way, distance=way.distance + abs(match.start - j))
                grown.append(replace(way.without(), next=j + 1))
        ways = grown or ways[:1]
    finished = [way.without() for way in best_first(ways)[:BEAM]]
    return list(best_first(finished)[0].taken)


# ---- statistics and score


def statistics(
    candidate: Words, reference: Words, tables: Tables, modules: Iterable[str] = MODULES
) -> tuple[float, ...]:
    """Return the 23 numbers of a pair: 4 lengths, 4 counts per module, chunks, matched words of both sides.

    No chunk is counted where all words are matched in one.
    """
    links = align(candidate, reference, tables, modules)
    functions = tables.function_words

    def split(words: Iterable[str]) -> tuple[int, int]:
        """Return number of content words and of function words."""
        flags = [word in functions for word in words]
        return flags.count(False), flags.count(True)

    counts: list[int] = []
    for module in MODULES:
        mine = split(candidate[i] for link in links if link.module == module for i in link.candidate_words)
        theirs = split(reference[j] for link in links if link.module == module for j in link.reference_words)
        counts += [mine[0], theirs[0], mine[1], theirs[1]]
    chunks = 0
    ends = None
    for link in links:
        chunks += ends != (link.start, link.reference_start)
        ends = (link.candidate_words.stop, link.reference_words.stop)
    matched = (sum(link.length for link in links), sum(link.reference_length for link in links))
    if chunks == 1 and matched == (len(candidate), len(reference)):
        chunks = 0
    lengths = (len(candidate), len(reference), split(candidate)[1], split(reference)[1])
    return tuple(map(float, (*lengths, *counts, chunks, *matched)))


@dataclass(frozen=True)
class Parameters:
    """By default those of METEOR for English and the ranking of systems."""

    alpha: float = 0.85
    beta: float = 0.2
    gamma: float = 0.6
    delta: float = 0.75
    weights: tuple[float, ...] = (*MODULES.values(),)

    @classmethod
    def with_modules(cls, modules: dict[str, float], **parameters: float) -> Parameters:
        return cls(**parameters, weights=tuple(modules.get(module, 0.0) for module in MODULES))


def score(row: Sequence[float], parameters: Parameters | None = None) -> float:
    """METEOR from statistics or sums of them, computed in METEOR's order: a tie of references hangs on the last bit."""
    p = parameters or Parameters()
    shares = []
    for side in (0, 1):
        content, function = row[side] - row[2 + side], row[2 + side]
        weighed = p.delta * content + (1 - p.delta) * function
        matched = 0.0
        for module, weight in enumerate(p.weights):
            matched += row[4 + 4 * module + side] * weight * p.delta
        for module, weight in enumerate(p.weights):
            matched += row[6 + 4 * module + side] * weight * (1 - p.delta)
        shares.append(_divided(matched, weighed))
    precision, recall = shares
    mean = _divided(1.0, _divided(1 - p.alpha, precision) + _divided(p.alpha, recall))
    # Statistics of a perfect pair hold no chunk; where nothing matches, zero by zero is no number.
    fragmentation = _divided(row[20], (row[21] + row[22]) / 2)
    found = mean * (1 - p.gamma * fragmentation**p.beta)
    return 0.0 if math.isnan(found) else max(0.0, found)


def _divided(a: float, b: float) -> float:
    """Return a / b as processors divide."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.inf


def best_statistics(
    candidate: Words, references: Iterable[Words], tables: Tables, parameters: Parameters, modules: Iterable[str]
) -> tuple[float, ...]:
    """Return the statistics against the reference that scores best, the first of equals."""
    rows = [statistics(candidate, reference, tables, modules) for reference in references]
    return max(rows, key=lambda row: score(row, parameters))


def corpus_score(rows: Sequence[Sequence[float]], parameters: Parameters | None = None) -> float:
    """Return the score of the sums."""
    return score([math.fsum(column) for column in zip(*rows, strict=True)], parameters)
