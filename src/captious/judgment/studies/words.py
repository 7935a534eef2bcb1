"""Studies of words: how well human captions predict each other's words, and how frequent words are."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, Match, References, read_captions, read_references, read_rows
from captious.data.matching import hold_out
from captious.errors import ParameterError
from captious.judgment.judgments import PEOPLE
from captious.judgment.results import Curve, Curves, Study
from captious.judgment.studies.sources import check_systems, checksums, defined, excluded, name_of_file
from captious.parsing.spacy_pipelines import Tagger, load_tagger
from captious.progress import Progress, steps
from captious.text import PTB, Tokens, WordLayer
from captious.words import DEFAULT_SEED, checked_seed, counted

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Word-level human agreement: how well human captions predict the words of other human captions.
#
# Chen et al. 2015, "Microsoft COCO Captions", section 4. For a word w, one caption of an image is a prediction of
# whether the other k captions contain w. An image counts as often as its references contain the word, or once if none
# does. This defines human precision and recall, for which there is a model: w applies to an image with probability q,
# and people who describe such an image use it with probability p. Then p is the recall, and precision is
#
#     p k / (p k + (1 - p)^k)
#
# whatever q is. Precision at human recall (PHR) is the precision of a system at the recall of people.

#: Parts of speech that words are grouped by.
_KINDS = {"NOUN": "noun", "VERB": "verb", "ADJ": "adjective"}
_ALL = "word"  # the only kind where there is no tagger
_CHUNK = 250  # words whose kind is looked up at a time
_EXAMPLES = 10  # captions in which a word is looked at
_RARE = 10  # images; words in fewer are not grouped


def word_agreement(
    references: object,
    n_words: int = 50,
    *,
    systems: Mapping[str, object] | None = None,
    tagger: Tagger | str | os.PathLike[str] | None = None,
    k: int | None = None,
    match: Match = "all",
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return human precision and recall of the most frequent words, with the model; and systems at human recall.

    Every caption of an image is the prediction in turn, and counts are averaged, which is the expectation of holding
    out a random one. From images with more than k + 1 captions, k + 1 are drawn; images with fewer are left out.
    Systems are compared with all choices of k of the k + 1 references, as people are.

    Args:
        references: human captions, at least two per image, in any supported form.
        n_words: number of the most frequent words; with a tagger, of each kind.
        systems: captions of systems by name, in any supported form, for their precision at human recall.
        tagger: name or folder of a spaCy pipeline, such as en_core_web_sm, to group words into nouns, verbs and
            adjectives by their most frequent tag; others are left out. In Python, also a function from captions, as
            lists of words, to parts of speech.
        k: number of references; by default one less than the usual number of captions of an image.
        match: with systems, "common" uses the images that all sides have; otherwise, a difference is an error.
        seed: random seed of the captions drawn, and of those in which a word's part of speech is looked up.

    Returns:
        One record per word, kind by kind, the most frequent first: the number of images that have it, human recall and
        precision, and the model's precision at this recall; for each system its recall, precision and PHR, which is
        None for a word that it never uses and people never repeat.

    Raises:
        ParameterError: no words requested or found, or no image with enough captions for k.
        MissingExtraError, ResourceError: spaCy or its pipeline is not installed.
        Others as ``captious.score``, about captions.
    """
    if n_words < 1:
        raise ParameterError(f"{n_words} is not a number of words", hint="ask for at least one")
    seed = checked_seed(seed)
    tag = load_tagger(tagger) if isinstance(tagger, str | os.PathLike) else tagger
    with Progress(3) as progress:
        progress.step("reading captions")
        table, data = read_references(references), checksums(references)
        table, outputs = _matched(table, systems or {}, match)
        progress.step("counting words")
        people = WordCounts.of_references(table, _checked_k(table, k), seed)
        progress.step("finding the most frequent words")
        kinds = _most_frequent(people, n_words, tag, seed)
    if not any(map(len, kinds.values())):
        kind = "word" if tag is None else f"noun, verb or adjective that occurs in {_RARE} or more images"
        raise ParameterError(f"there is no {kind}", where=table.name, hint="give more captions")
    agreed = _Agreement(people, kinds)
    with steps([*outputs], lambda name: f"counting words of {name}") as names:
        for name in names:
            agreed.add(name, outputs[name])
    return Study(
        "words",
        f"Human agreement on words: {name_of_file(references, table.name)}, {counted(people.n_images, 'image')}, "
        f"k = {people.k} references",
        list(agreed.columns),
        [dict(zip(agreed.columns, values, strict=True)) for values in zip(*agreed.columns.values(), strict=True)],
        {},
        {**data, **checksums(*(systems or {}).values())},
        {
            "k": people.k,
            "words": n_words,
            "tokenizer": PTB.name,
            **({} if tag is None else {"tagger": getattr(tag, "name", getattr(tag, "__name__", "a function"))}),
            "seed": seed,
        },
        agreed.pictures,
        notes=[*agreed.notes(len(table)), *_shortage_notes(kinds, n_words, tag)],
    )


# ---- what is asked for


def _matched(table: References, systems: Mapping[str, object], match: Match) -> tuple[References, dict[str, Captions]]:
    """Return the images that all have, and the captions of every system for them, matched with one table."""
    rows = {name: read_rows(source, "candidates") for name, source in systems.items()}
    for captions in rows.values():
        table = read_captions(captions, table, match=match).references
    return table, {name: read_captions(captions, table, match=match) for name, captions in rows.items()}


def _checked_k(table: References, k: int | None) -> int:
    of_image = np.diff(table.offsets)
    most = int(of_image.max()) - 1
    k = int(np.bincount(of_image).argmax()) - 1 if k is None else k
    if not 1 <= k <= most:
        raise ParameterError(
            f"no image has {counted(k, 'reference')} in addition to the predicting caption",
            where=f"{table.name}: up to {most + 1} captions per image",
            hint=f"give k from 1 to {most}" if most else "give captions by several people for every image",
        )
    return k


def _most_frequent(people: WordCounts, n_words: int, tag: Tagger | None, seed: int) -> dict[str, NDArray[np.int64]]:
    """Return the words in the most captions, by kind."""
    ordered = np.argsort(-people.captions, kind="stable")
    if tag is None:
        return {_ALL: ordered[:n_words][people.captions[ordered[:n_words]] > 0]}
    ordered = ordered[people.images[ordered] >= _RARE]
    rng = np.random.default_rng(seed)
    columns = occurrences(people.tokens, len(people.captions)).tocsc()
    words_of: dict[str, list[int]] = {kind: [] for kind in _KINDS.values()}
    for start in range(0, len(ordered), _CHUNK):
        chunk = ordered[start : start + _CHUNK]
        for word, kind in zip(chunk.tolist(), _kinds(people.tokens, columns, chunk, tag, rng), strict=True):
            if kind in _KINDS:
                words_of[_KINDS[kind]].append(word)
        if all(len(words) >= n_words for words in words_of.values()):
            break
    return {kind: np.array(words[:n_words], np.int64) for kind, words in words_of.items()}


def _kinds(tokens: Tokens, columns: Any, words: NDArray[np.int64], tag: Tagger, rng: np.random.Generator) -> list[str]:
    """Return the most frequent part of speech of each word, in some captions that contain it."""
    examples = []
    for word in words.tolist():
        captions = columns.indices[columns.indptr[word] : columns.indptr[word + 1]]
        examples.append(rng.choice(captions, min(_EXAMPLES, len(captions)), replace=False).tolist())
    needed = sorted({caption for sample in examples for caption in sample})
    spans = {caption: slice(*tokens.offsets[caption : caption + 2].tolist()) for caption in needed}
    names = tokens.vocabulary.words()
    kind_lists = tag([[names[i] for i in tokens.ids[spans[caption]].tolist()] for caption in needed])
    tags = dict(zip(needed, kind_lists, strict=True))
    kinds = []
    for word, sample in zip(words.tolist(), examples, strict=True):
        counts = Counter(
            kind
            for caption in sample
            for i, kind in zip(tokens.ids[spans[caption]].tolist(), tags[caption], strict=True)
            if i == word
        )
        kinds.append(counts.most_common(1)[0][0])
    return kinds


# ---- what is reported


class _Agreement:
    """Agreement on the most frequent words: of people, and of systems that are added.

    Args:
        people: counts of the words of people.
        kinds: the words, int64[n_words of the kind], by kind.
    """

    def __init__(self, people: WordCounts, kinds: Mapping[str, NDArray[np.int64]]) -> None:
        self.people, self.words = people, np.concatenate([*kinds.values()])
        predictions = people.of_people(self.words)
        self.recall, self.precision = predictions.recall, predictions.precision
        self.model = model_precision(self.recall, people.k)
        #: Place among the words, by kind.
        ends = np.cumsum([len(members) for members in kinds.values()])
        self.rows = dict(zip(kinds, np.split(np.arange(len(self.words)), ends[:-1]), strict=True))
        names = people.tokens.vocabulary.words()
        #: The columns of the table.
        self.columns: dict[str, list[Any]] = {"word": [names[i] for i in self.words.tolist()]}
        if _ALL not in kinds:
            self.columns["kind"] = [kind for kind, members in kinds.items() for _ in members]
        self.columns["images"] = people.images[self.words].tolist()
        self._add(recall=self.recall, precision=self.precision, model=self.model)
        #: By system, precision at human recall, and whether the system reaches it.
        self.systems: dict[str, tuple[NDArray[np.float64], NDArray[np.bool_]]] = {}

    def _add(self, **columns: NDArray[np.float64]) -> None:
        self.columns |= {name: [*map(defined, values)] for name, values in columns.items()}

    def add(self, name: str, captions: Captions) -> None:
        """Add a system."""
        predictions = self.people.of_system(captions, self.words)
        recall, phr = predictions.recall, predictions.precision_at(self.recall)
        self._add(**{f"recall_{name}": recall, f"precision_{name}": predictions.precision, f"phr_{name}": phr})
        self.systems[name] = phr, recall >= self.recall

    @property
    def pictures(self) -> dict[str, Curves]:
        """Pictures of precision against human recall: of people by kind of word; of people and of systems."""
        p = np.linspace(0, 1, 101)
        model = {f"model, k = {self.people.k}": Curve(p, model_precision(p, self.people.k))}
        labels = ("human recall", "precision")
        lines = {f"{kind}s": self._curve(self.precision, at) for kind, at in self.rows.items()}
        pictures = {"words": Curves("Words that people agree on", *labels, lines | model)}
        if self.systems:
            lines = {"people": Curve(self.recall, self.precision, points=True)}
            for name, (phr, reached) in self.systems.items():
                lines |= {name: self._curve(phr, reached), f"{name}, interpolated": self._curve(phr, ~reached)}
            pictures["phr"] = Curves("Precision at human recall", *labels, lines | model)
        return pictures

    def _curve(self, values: NDArray[np.float64], at: NDArray[Any]) -> Curve:
        return Curve(self.recall[at], values[at], points=True)

    def notes(self, n_table: int) -> list[str]:
        """Return notes on the protocol, and means by kind; ``n_table`` is the number of all images."""
        people, gap = self.people, self.precision - self.model
        notes = [
            f"Each of an image's {people.k + 1} captions predicts the others in turn; results are pooled over all "
            "turns.",
            "Recall is the probability that people use the word if it suits the image; model is the precision that "
            f"this implies. It differs from the measured precision by {np.mean(np.abs(gap)):.3f} on average; "
            f"{np.count_nonzero(gap < 0):,} of {len(self.words):,} words lie below it.",
        ]
        if people.n_images < n_table:
            left_out = counted(n_table - people.n_images, "image")
            notes.append(f"Excluded: {left_out} with fewer than {people.k + 1} captions.")
        if people.n_drawn:
            drawn = counted(people.n_drawn, "image")
            notes.append(f"For {drawn} with more captions, {people.k + 1} captions were drawn.")
        notes += [self._note(kind, at) for kind, at in self.rows.items() if len(at)]
        if self.systems:
            notes.append(
                "If a system recalls a word less often than people do, its PHR is interpolated as if the word were "
                "added to random captions until the system's recall matched that of people. A better estimate is not "
                "possible from captions alone."
            )
        return notes

    def _note(self, kind: str, at: NDArray[np.int64]) -> str:
        """Return a sentence with the means of the words of a kind, for people and systems."""
        recall, precision = self.recall[at], self.precision[at]
        sentence = f"{len(at):,} {kind}s: human recall {recall.mean():.3f}, precision {precision.mean():.3f}"
        for name, (phr, reached) in self.systems.items():
            sentence += (
                f"; {name} recalls {np.count_nonzero(reached[at]):,} of them at least as often as people; its PHR is "
                f"{np.nan_to_num(phr[at]).mean():.3f} and above people's precision for "
                f"{np.count_nonzero(phr[at] > precision):,}"
            )
        return sentence + "."


def _shortage_notes(kinds: Mapping[str, NDArray[np.int64]], n_words: int, tag: Tagger | None) -> list[str]:
    short = [f"{len(words):,} {kind}s" for kind, words in kinds.items() if len(words) < n_words]
    if not short:
        return []
    return [f"There are only {', '.join(short)}" + ("." if tag is None else f" that occur in {_RARE} or more images.")]


# Human agreement on words: counts of each word in the captions of an image, and the model of Chen et al. 2015.


# ---- the model


def model_precision(p: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return p k / (p k + (1 - p)^k), the precision of a word used with probability p, given k references."""
    expected = p * k
    return np.asarray(expected / (expected + (1 - p) ** k))


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of words, added up, float64[n_words] each.

    Args:
        tp, fp: true and false positives.
        positives, negatives: those of predicting every word for every image.
    """

    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]

    @property
    def recall(self) -> NDArray[np.float64]:
        return ratio(self.tp, self.positives)

    @property
    def precision(self) -> NDArray[np.float64]:
        return ratio(self.tp, self.tp + self.fp)

    def precision_at(self, recall: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the precision at another recall; NaN if nothing is predicted and the recall is 0.

        Captions define one point of precision and recall. Between that and predicting nothing, or everything,
        predictions are left out or added at random, which interpolates true and false positives linearly (Davis and
        Goadrich 2006): a system with a higher recall keeps its precision, one with a lower recall loses some.
        """
        share = np.where(self.recall < recall, ratio(recall - self.recall, 1 - self.recall), 0.0)
        more = share * (self.positives - self.tp)
        others = share * (self.positives - self.tp + self.negatives - self.fp)
        return ratio(self.tp + more, self.tp + self.fp + others)


# ---- counting


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Counts of each word in the captions of an image, and the predictions that follow from them.

    If c of k + 1 captions contain a word, the prediction is one of these in c of k + 1 choices; it then matches c - 1
    references with the word, and otherwise misses c.

    Args:
        tokens: the words of all references.
        k: number of references.
        per_image: int64[n_images, n_words], the count c, sparse.
        rows: int64[n_images], indices of the images in the table of references.
        n_drawn: images with more than k + 1 captions.
    """

    tokens: Tokens
    k: int
    per_image: csr_matrix
    rows: NDArray[np.int64]
    n_drawn: int

    @classmethod
    def of_references(cls, table: References, k: int, seed: int) -> WordCounts:
        """Count words in the captions of images that have more than k."""
        from scipy.sparse import csr_matrix

        tokens = table.layer(WordLayer(PTB))
        n_words = len(tokens.vocabulary)
        of_image = np.diff(table.offsets)
        rows = np.flatnonzero(of_image > k)
        image = np.repeat(np.arange(len(table)), of_image)
        order = np.lexsort((np.random.default_rng(seed).random(len(image)), image))
        texts = order[table.offsets[rows][:, None] + np.arange(k + 1)].ravel()
        captions = occurrences(tokens, n_words)[texts]
        # The captions of an image follow one another: without the bounds between them they are one row.
        merged = (captions.data, captions.indices, captions.indptr[:: k + 1])
        per_image = csr_matrix(merged, shape=(len(rows), n_words))
        per_image.sum_duplicates()
        return cls(tokens, k, per_image, rows, int(np.count_nonzero(of_image > k + 1)))

    @property
    def n_images(self) -> int:
        return len(self.rows)

    @cached_property
    def _c(self) -> NDArray[np.int64]:
        return np.arange(self.k + 2)

    @cached_property
    def _histogram(self) -> NDArray[np.float64]:
        """Images in which c captions contain the word, float64[n_words, k + 2]; 0 for c = 0."""
        return _histogram(self.per_image, self.k + 2)

    @cached_property
    def images(self) -> NDArray[np.int64]:
        """Number of images with the word in any caption."""
        return np.asarray(self._histogram.sum(axis=1), np.int64)

    @cached_property
    def captions(self) -> NDArray[np.int64]:
        """Number of captions with the word."""
        return np.asarray(self._histogram @ self._c, np.int64)

    def of_people(self, words: NDArray[np.int64]) -> Predictions:
        """Return the predictions of some words by people."""
        histogram, c = self._histogram[words], self._c
        fp = histogram[:, 1] / (self.k + 1)
        positives = self.captions[words] * self.k / (self.k + 1)
        negatives = self.n_images - self.images[words] + fp
        return Predictions(histogram @ (c * (c - 1)) / (self.k + 1), fp, positives, negatives)

    def of_system(self, captions: Captions, words: NDArray[np.int64]) -> Predictions:
        """Return the predictions of some words by a system, averaged over choices of k references."""
        tokens = captions.layer(WordLayer(PTB))[0]
        counts = occurrences(tokens, len(tokens.vocabulary))[self.rows][:, words]
        both = counts.multiply(self.per_image[:, words]).tocsr()
        histogram = _histogram(both, self.k + 2)
        tp = np.asarray(histogram @ self._c * self.k / (self.k + 1))
        unknown = np.asarray(counts.sum(axis=0)).ravel() - histogram.sum(axis=1)
        return replace(self.of_people(words), tp=tp, fp=unknown + histogram[:, 1] / (self.k + 1))


def occurrences(tokens: Tokens, n_words: int) -> csr_matrix:
    """Return the words of each caption: ones in int64[n_captions, n_words], sparse."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(tokens.ids), np.int64)
    matrix = csr_matrix((ones, tokens.ids, tokens.offsets), shape=(len(tokens.offsets) - 1, n_words), copy=True)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _histogram(counts: csr_matrix, n: int) -> NDArray[np.float64]:
    """Return counts of each number below n in each column, except zeros: float64[n_columns, n]."""
    n_columns = counts.shape[1]
    keys = counts.indices.astype(np.int64) * n + counts.data
    histogram = np.bincount(keys, minlength=n_columns * n).reshape(n_columns, n).astype(float)
    histogram[:, 0] = 0
    return histogram


def ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)


# Frequencies of words in human and machine captions.
#
# Cui et al. 2018 (LEIC), figure 4. The human captions are one reference of each image, so that people and systems have
# the same number of captions.

_POINTS = 200  # points per curve


def word_frequencies(
    systems: Mapping[str, object],
    references: object,
    n_words: int = 50,
    *,
    match: Match = "all",
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return how often people and systems use the most frequent words of people, and how many words they use.

    Args:
        systems: the captions of systems by name, in any supported form.
        references: human captions in any supported form; images with a single one are left out.
        n_words: number of words: the most frequent ones of people.
        match: which images: "common" uses the images that references and all systems have; otherwise, a difference is
            an error.
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
        raise ParameterError(f"{n_words} is not a number of words", hint="ask for at least one")
    table, data = read_references(references), checksums(references)
    people, left_out = hold_out(table, checked_seed(seed))
    counts: dict[str, Counter[str]] = {}
    with steps([PEOPLE, *systems], str) as names:
        for name in names:
            captions = (
                people
                if name == PEOPLE
                else read_captions(systems[name], people.references, match="common" if left_out else match)
            )
            counts[name] = _counts(captions)
    frequent = [word for word, _ in counts[PEOPLE].most_common(n_words)]
    rates = {name: 1000 / max(1, of_words.total()) for name, of_words in counts.items()}
    records = [
        {"word": word, **{name: of_words[word] * rates[name] for name, of_words in counts.items()}} for word in frequent
    ]
    sentences, lines = [], {}
    for name, of_words in counts.items():
        ordered = np.array(sorted(of_words.values(), reverse=True), np.float64)
        shares = np.cumsum(ordered) / max(1.0, ordered.sum())  # of the most frequent words, float64[n_different_words]
        half = int(np.searchsorted(shares, 0.5)) + 1 if len(shares) else 0
        words, different = counted(of_words.total(), "word"), counted(len(of_words), "different one")
        sentences.append(f"{name}: {words}, {different}; {half} make up half.")
        ranks = np.unique(np.geomspace(1, max(1, len(shares)), _POINTS).astype(np.int64))
        ranks = ranks[ranks <= len(shares)]
        lines[name] = Curve(ranks.astype(np.float64), shares[ranks - 1])
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
            *excluded(left_out),
        ],
    )


def _counts(captions: Captions) -> Counter[str]:
    """Return the frequency of each word in the candidates."""
    tokens = Tokens.of(captions.candidates, PTB).split()
    names = tokens.vocabulary.words()
    of_ids = np.bincount(tokens.ids, minlength=len(names)).tolist()
    return Counter({word: n for word, n in zip(names, of_ids, strict=True) if n})
