"""Word-level human agreement: how well human captions predict the words of other human captions.

Chen et al. 2015, "Microsoft COCO Captions", section 4. For a word w, one caption of an image is a prediction of whether
the other k captions have w. An image counts as often as its references have the word, or once if none has it. That
gives human precision and recall, and there is a model of both: w suits an image with probability q, and anyone who
describes an image that it suits says it with probability p. Then recall is p, and precision is

    p k / (p k + (1 - p)^k)

whatever q is. Precision at human recall (PHR) is the precision of a system where it recalls w as often as people do.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, match, read_rows
from captious.errors import ParameterError
from captious.evaluation.resampling import check_seed
from captious.judgment.study import Curve, Curves, Study
from captious.judgment.study_inputs import checksums, name_of_file, noted_references
from captious.parsing.tagging import Tagger, load_tagger
from captious.progress import Progress, steps
from captious.text import PTB, Tokens, WordLayer

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["WordCounts", "fitted_probability", "model_precision", "precision_at_recall", "word_agreement"]

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
    subset: bool = False,
    seed: int = 0,
) -> Study:
    """Human precision and recall of the most frequent words, with the fitted model; and systems at human recall.

    Every caption of an image is the prediction in turn, and counts are averaged: what holding out one at random gives
    on average. From images with more than k + 1 captions, k + 1 are drawn; images with fewer are left out. Systems are
    compared with all choices of k of the k + 1 references, so that they are measured as people are.

    Args:
        references: human captions, at least two per image, in any form that is read.
        n_words: how many words of each kind, or in all without a tagger.
        systems: captions of systems by name, in any form that is read.
        tagger: a spaCy pipeline by name or folder, or a function from captions, as lists of words, to parts of speech;
            words are then grouped into nouns, verbs and adjectives, by what they most often are. Others are left out.
        k: number of references; by default one less than the usual number of captions of an image.
        subset: with systems, take the images that all sides have.
        seed: of the drawing of captions, and of those in which a word's part of speech is looked up.

    Returns:
        One record per word, kind by kind, the most frequent first: the number of images that have it, human recall and
        precision, the fitted p and the model's precision at it; for each system its recall, precision and PHR, which
        is None for a word that it never says and people never repeat.

    Raises:
        ParameterError: no words asked for or found, or k that no image has captions for.
        MissingExtraError, ResourceError: spaCy or its pipeline is not installed.
        and what ``captious.score`` raises about captions.
    """
    if n_words < 1:
        raise ParameterError(f"{n_words} is not a number of words", help="ask for at least one")
    check_seed(seed)
    tag = load_tagger(tagger) if isinstance(tagger, str | os.PathLike) else tagger
    with Progress(3) as progress:
        progress.step("reading captions")
        table, data = noted_references(references)
        table, outputs = _matched(table, systems or {}, subset)
        progress.step("counting words")
        people = WordCounts.of_references(table, _checked_k(table, k), seed)
        progress.step("finding the most frequent words")
        kinds = _most_frequent(people, n_words, tag, seed)
    words = np.concatenate(list(kinds.values()))
    if not len(words):
        wanted = "word" if tag is None else f"noun, verb or adjective that occurs in {_RARE} or more images"
        raise ParameterError(f"there is no {wanted}", where=table.name, help="give more captions")
    names = people.tokens.vocabulary.words()
    columns: dict[str, Sequence[Any]] = {"word": [names[word] for word in words.tolist()]}
    if tag is not None:
        columns["kind"] = [kind for kind, members in kinds.items() for _ in members]
    columns |= {
        "images": people.images[words].tolist(),
        "recall": _numbers(people.recall[words]),
        "precision": _numbers(people.precision[words]),
        "p": _numbers(people.p[words]),
        "model": _numbers(model_precision(people.p[words], people.k)),
    }
    at_human_recall, reached = {}, {}
    with steps([*outputs], lambda name: f"counting words of {name}") as named:
        for name in named:
            captions = outputs[name]
            tp, fp = people.of_system(captions, words)
            whole = people.positives[words], people.negatives[words]
            at_human_recall[name] = precision_at_recall(tp, fp, *whole, people.recall[words])
            own = _ratio(tp, whole[0])
            reached[name] = own >= people.recall[words]
            columns |= {
                f"recall_{name}": _numbers(own),
                f"precision_{name}": _numbers(_ratio(tp, tp + fp)),
                f"phr_{name}": _numbers(at_human_recall[name]),
            }
    ends = np.cumsum([len(members) for members in kinds.values()])
    rows = dict(zip(kinds, np.split(np.arange(len(words)), ends[:-1]), strict=True))
    return Study(
        "words",
        f"Human agreement on words: {name_of_file(references, table.name)}, {people.n_images:,} images, "
        f"k = {people.k} references",
        list(columns),
        [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)],
        {},
        {**data, **checksums(*(systems or {}).values())},
        {
            "k": people.k,
            "words": n_words,
            "tokenizer": PTB.name,
            **({} if tag is None else {"tagger": getattr(tag, "name", getattr(tag, "__name__", "a function"))}),
            "seed": seed,
        },
        _pictures(people, words, rows, at_human_recall, reached),
        notes=[
            *_notes(people, words, len(table)),
            *_group_notes(people, words, rows, at_human_recall, reached),
            *_shortage_notes(kinds, n_words, tag),
        ],
    )


# ---- the model


def model_precision(p: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """p k / (p k + (1 - p)^k): the precision of a word that is said with probability p, given k references."""
    known = p * k
    return np.asarray(known / (known + (1 - p) ** k))


def fitted_probability(mean: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The p of the model that makes it most likely that captions have a word as often as they do.

    Each of n captions has the word with probability p if it suits the image, and otherwise none has it. The likelihood
    depends on the data only through the mean number of captions with the word, over images where any has it: the mean
    of a binomial without its zero, n p / (1 - (1 - p)^n), is set equal to that and solved for p.

    Args:
        mean: 1 to n; 1 gives p = 0 and n gives p = 1.
        n: number of captions of an image, the prediction among them: k + 1.
    """
    low, high = np.zeros_like(mean), np.ones_like(mean)
    for _ in range(60):
        p = (low + high) / 2
        below = n * p < mean * (1 - (1 - p) ** n)
        low, high = np.where(below, p, low), np.where(below, high, p)
    return np.asarray(np.select([mean <= 1, mean >= n, mean > 1], [0.0, 1.0, (low + high) / 2], np.nan))


def precision_at_recall(
    tp: NDArray[np.float64],
    fp: NDArray[np.float64],
    positives: NDArray[np.float64],
    negatives: NDArray[np.float64],
    recall: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The precision of a system at a recall that is not its own.

    Captions give one point of precision and recall. Between that and predicting nothing, or everything, predictions are
    left out or added at random, which interpolates true and false positives linearly (Davis and Goadrich 2006): a
    system that recalls more than asked for keeps its precision, one that recalls less loses some.

    Args:
        tp, fp: true and false positives of the system.
        positives, negatives: of a system that predicts everything.
        recall: the recall in question.

    Returns:
        Precision; NaN where nothing is predicted and the recall is 0.
    """
    own = _ratio(tp, positives)
    more = own < recall
    added = np.where(more, _ratio(recall - own, 1 - own), 0.0)
    return _ratio(tp + added * (positives - tp), tp + fp + added * (positives - tp + negatives - fp))


# ---- counting


@dataclass(frozen=True, eq=False)
class WordCounts:
    """In how many captions of its image each word is, and what follows: arrays float64[n_words] over the vocabulary.

    With c of k + 1 captions having a word, the prediction is one of these in c of k + 1 choices; it then finds c - 1
    references with the word, and otherwise misses c.

    Args:
        tokens: the words of all references.
        k: number of references.
        per_image: int64[n_images, n_words], the count c, sparse.
        rows: int64[n_images], which images of the table of references these are.
        n_drawn: images with more than k + 1 captions.
    """

    tokens: Tokens
    k: int
    per_image: csr_matrix
    rows: NDArray[np.int64]
    n_drawn: int

    @classmethod
    def of_references(cls, table: References, k: int, seed: int) -> WordCounts:
        """Count words of the captions of images that have more than k."""
        from scipy.sparse import csr_matrix

        tokens = table.layer(WordLayer(PTB))
        n_words = len(tokens.vocabulary)
        of_image = np.diff(table.offsets)
        rows = np.flatnonzero(of_image > k)
        image = np.repeat(np.arange(len(table)), of_image)
        drawn = np.lexsort((np.random.default_rng(seed).random(len(image)), image))
        chosen = drawn[table.offsets[rows][:, None] + np.arange(k + 1)].ravel()
        captions = _occurrences(tokens, n_words)[chosen]
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
        """Images in which c captions have the word, float64[n_words, k + 2]; 0 where c is 0."""
        return _histogram(self.per_image, self.k + 2)

    @cached_property
    def images(self) -> NDArray[np.int64]:
        """Number of images that have the word in any caption."""
        return np.asarray(self._histogram.sum(axis=1), np.int64)

    @cached_property
    def captions(self) -> NDArray[np.int64]:
        """Number of captions that have the word."""
        return np.asarray(self._histogram @ self._c, np.int64)

    @property
    def tp(self) -> NDArray[np.float64]:
        return np.asarray(self._histogram @ (self._c * (self._c - 1)) / (self.k + 1))

    @property
    def fp(self) -> NDArray[np.float64]:
        return np.asarray(self._histogram[:, 1] / (self.k + 1))

    @property
    def positives(self) -> NDArray[np.float64]:
        return np.asarray(self.captions * self.k / (self.k + 1))

    @property
    def negatives(self) -> NDArray[np.float64]:
        return np.asarray(self.n_images - self.images + self.fp)

    @property
    def recall(self) -> NDArray[np.float64]:
        return _ratio(self.tp, self.positives)

    @property
    def precision(self) -> NDArray[np.float64]:
        return _ratio(self.tp, self.tp + self.fp)

    @cached_property
    def p(self) -> NDArray[np.float64]:
        """The fitted probability of the model; NaN for words that no image has."""
        mean = _ratio(self.captions.astype(float), self.images.astype(float))
        return fitted_probability(mean, self.k + 1)

    def of_system(
        self, captions: Captions, words: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """True and false positives of a system for some words, each averaged over choices of k references."""
        tokens = captions.layer(WordLayer(PTB))[0]
        said = _occurrences(tokens, len(tokens.vocabulary))[self.rows][:, words]
        both = said.multiply(self.per_image[:, words]).tocsr()
        histogram = _histogram(both, self.k + 2)
        tp = np.asarray(histogram @ self._c * self.k / (self.k + 1))
        unknown = np.asarray(said.sum(axis=0)).ravel() - histogram.sum(axis=1)
        return tp, unknown + histogram[:, 1] / (self.k + 1)


def _occurrences(tokens: Tokens, n_words: int) -> csr_matrix:
    """Which caption has which word: ones in int64[n_captions, n_words], sparse."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(tokens.ids), np.int64)
    found = csr_matrix((ones, tokens.ids, tokens.offsets), shape=(len(tokens.offsets) - 1, n_words), copy=True)
    found.sum_duplicates()
    found.data[:] = 1
    return found


def _histogram(counts: csr_matrix, n: int) -> NDArray[np.float64]:
    """How often each number below n occurs in each column, zeros aside: float64[n_columns, n]."""
    n_columns = counts.shape[1]
    keys = counts.indices.astype(np.int64) * n + counts.data
    histogram = np.bincount(keys, minlength=n_columns * n).reshape(n_columns, n).astype(float)
    histogram[:, 0] = 0
    return histogram


def _ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(a / b)


# ---- what is asked for


def _matched(table: References, systems: Mapping[str, object], subset: bool) -> tuple[References, dict[str, Captions]]:
    """The images that all have, and the captions of every system for them, matched with one table."""
    rows = {name: read_rows(source, "candidates") for name, source in systems.items()}
    for each in rows.values():
        table = match(each, table, subset=subset).references
    return table, {name: match(each, table, subset=subset) for name, each in rows.items()}


def _checked_k(table: References, k: int | None) -> int:
    of_image = np.diff(table.offsets)
    most = int(of_image.max()) - 1
    chosen = int(np.bincount(of_image).argmax()) - 1 if k is None else k
    if not 1 <= chosen <= most:
        raise ParameterError(
            f"no image has {chosen} references in addition to the predicting caption",
            where=f"{table.name}: up to {most + 1} captions per image",
            help=f"give k from 1 to {most}" if most else "give captions by several people for every image",
        )
    return chosen


def _most_frequent(people: WordCounts, n_words: int, tag: Tagger | None, seed: int) -> dict[str, NDArray[np.int64]]:
    """The words that most captions have, by kind."""
    ordered = np.argsort(-people.captions, kind="stable")
    if tag is None:
        return {_ALL: ordered[:n_words][people.captions[ordered[:n_words]] > 0]}
    ordered = ordered[people.images[ordered] >= _RARE]
    rng = np.random.default_rng(seed)
    columns = _occurrences(people.tokens, len(people.captions)).tocsc()
    found: dict[str, list[int]] = {kind: [] for kind in _KINDS.values()}
    for start in range(0, len(ordered), _CHUNK):
        some = ordered[start : start + _CHUNK]
        for word, kind in zip(some.tolist(), _kinds(people.tokens, columns, some, tag, rng), strict=True):
            if kind in _KINDS:
                found[_KINDS[kind]].append(word)
        if all(len(words) >= n_words for words in found.values()):
            break
    return {kind: np.array(words[:n_words], np.int64) for kind, words in found.items()}


def _kinds(tokens: Tokens, columns: Any, words: NDArray[np.int64], tag: Tagger, rng: np.random.Generator) -> list[str]:
    """What part of speech each word most often is, in some captions that have it."""
    examples = []
    for word in words.tolist():
        captions = columns.indices[columns.indptr[word] : columns.indptr[word + 1]]
        examples.append(rng.choice(captions, min(_EXAMPLES, len(captions)), replace=False).tolist())
    needed = sorted({caption for some in examples for caption in some})
    spans = {caption: slice(*tokens.offsets[caption : caption + 2].tolist()) for caption in needed}
    names = tokens.vocabulary.words()
    tagged = tag([[names[i] for i in tokens.ids[spans[caption]].tolist()] for caption in needed])
    tags = dict(zip(needed, tagged, strict=True))
    kinds = []
    for word, some in zip(words.tolist(), examples, strict=True):
        seen = Counter(
            kind
            for caption in some
            for i, kind in zip(tokens.ids[spans[caption]].tolist(), tags[caption], strict=True)
            if i == word
        )
        kinds.append(seen.most_common(1)[0][0])
    return kinds


# ---- what is reported


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


def _pictures(
    people: WordCounts,
    words: NDArray[np.int64],
    rows: Mapping[str, NDArray[np.int64]],
    at_human_recall: Mapping[str, NDArray[np.float64]],
    reached: Mapping[str, NDArray[np.bool_]],
) -> dict[str, Curves]:
    """Precision against human recall: of people by kind of word; of people and of systems."""
    p = np.linspace(0, 1, 101)
    model = {f"model, k = {people.k}": Curve(p, model_precision(p, people.k))}
    recall, precision = people.recall[words], people.precision[words]
    labels = ("human recall", "precision")
    lines = {f"{kind}s": Curve(recall[at], precision[at], points=True) for kind, at in rows.items()}
    pictures = {"words": Curves("Words that people agree on", *labels, lines | model)}
    if at_human_recall:
        lines = {"people": Curve(recall, precision, points=True)}
        for name, values in at_human_recall.items():
            at = reached[name]
            lines[name] = Curve(recall[at], values[at], points=True)
            lines[f"{name}, interpolated"] = Curve(recall[~at], values[~at], points=True)
        pictures["phr"] = Curves("Precision at human recall", *labels, lines | model)
    return pictures


def _notes(people: WordCounts, words: NDArray[np.int64], n_table: int) -> list[str]:
    p, recall, precision = people.p[words], people.recall[words], people.precision[words]
    gap = precision - model_precision(recall, people.k)
    more = float(np.mean(recall - p))
    notes = [
        f"Each of an image's {people.k + 1} captions predicts the others in turn; numbers pool all turns.",
        "p is fitted to the number of captions per image that contain the word; model is the precision that p implies, "
        f"on average {np.mean(np.abs(precision - model_precision(p, people.k))):.3f} from the measured precision.",
        f"The model predicts recall p; the measured recall is {abs(more):.3f} {'higher' if more >= 0 else 'lower'} on "
        f"average{', as when a word suits some images better than others' if more > 0 else ''}. Words lie on average "
        f"{np.mean(np.abs(gap)):.3f} from the model's curve over recall, "
        f"{np.count_nonzero(gap < 0):,} of {len(words):,} below it.",
    ]
    if people.n_images < n_table:
        notes.append(f"Excluded: {n_table - people.n_images:,} images with fewer than {people.k + 1} captions.")
    if people.n_drawn:
        notes.append(f"For {people.n_drawn:,} images with more captions, {people.k + 1} captions were drawn.")
    return notes


def _group_notes(
    people: WordCounts,
    words: NDArray[np.int64],
    rows: Mapping[str, NDArray[np.int64]],
    at_human_recall: Mapping[str, NDArray[np.float64]],
    reached: Mapping[str, NDArray[np.bool_]],
) -> list[str]:
    """Means by kind, for people and systems."""
    notes = []
    recall, precision = people.recall[words], people.precision[words]
    for kind, at in rows.items():
        if not len(at):
            continue
        said = f"{len(at):,} {kind}s: human recall {recall[at].mean():.3f}, precision {precision[at].mean():.3f}"
        for name, values in at_human_recall.items():
            better = np.count_nonzero(values[at] > precision[at])
            said += f"; {name} recalls {np.count_nonzero(reached[name][at]):,} of them at least as often as people; "
            said += f"its PHR is {np.nan_to_num(values[at]).mean():.3f} and above people's precision for {better:,}"
        notes.append(said + ".")
    if at_human_recall:
        notes.append(
            "If a system recalls a word less often than people do, its PHR is interpolated: its precision if the word "
            "were added to random captions until it does. Captions alone allow no better estimate."
        )
    return notes


def _shortage_notes(kinds: Mapping[str, NDArray[np.int64]], n_words: int, tag: Tagger | None) -> list[str]:
    short = [f"{len(words):,} {kind}s" for kind, words in kinds.items() if len(words) < n_words]
    if not short:
        return []
    return [f"There are only {', '.join(short)}" + ("." if tag is None else f" that occur in {_RARE} or more images.")]
