"""Explanations inside a page: the data that each metric packs, and the manifest that names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious import drawing
from captious.evaluation import Report
from captious.evaluation.explanations import explained_parts
from captious.layouts import layout_values, scene_rows
from captious.learned.concur import Agreement, Concur
from captious.metrics.bleu import Bleu
from captious.metrics.cider import Cider
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.meteor import Meteor
from captious.metrics.rouge import RougeL
from captious.metrics.shared.coverage import CoveredSentence, SentenceCoverage
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.metrics.spice import Spice
from captious.metrics.wmd import Wmd
from captious.models.word_vectors import BagLayer
from captious.progress import steps
from captious.report.page_data import CaptionWords, Column, Columns, TokenTable
from captious.scenes.graphs import KINDS, Fact, Facts, names_of
from captious.text import TokenLayer, WordLayer
from captious.text.meteor_words import MeteorLayer

# Data shared by the explanations of a page: systems, images, words, tokens and columns.


@dataclass(frozen=True)
class Explained:
    """Captions that a page explains.

    Args:
        reports: the systems, scored with the same metrics on the same images.
        rows: the images to explain, in ascending order.
        words: words of the references, then of the candidates of every system.
        columns: columns of the page.
        tables: token tables by layer, shared by metrics.
    """

    reports: Sequence[Report]
    rows: NDArray[np.int64]
    words: CaptionWords
    columns: Columns
    tables: dict[Any, TokenTable] = field(default_factory=dict)

    def tokens(self, layer: Any) -> tuple[int, TokenTable]:
        """Return the tokens of a layer, and the number of their table."""
        if layer not in self.tables:
            table = TokenTable(self.words, layer)
            table.add(0, self.reports[0].captions.references.layer(layer))
            for number, report in enumerate(self.reports, 1):
                table.add(number, report.single_captions.layer(layer)[0])
            self.tables[layer] = table
        return [*self.tables].index(layer), self.tables[layer]


# CIDEr: shared n-grams, weighted on the page from tokens and document frequencies.
#
# An n-gram in no document has the same weight as one in a single document. So frequencies of 2 and more suffice.


def pack_ngram_weights(metric: Cider, explained: Explained) -> dict[str, Any]:
    """Pack document frequencies as a tree of n-grams in preorder: the length, last word, and frequency of each."""
    columns = explained.columns
    number, table = explained.tokens(WordLayer(metric.tokenizer))
    idf = metric.frequencies(explained.reports[0].captions.references)
    ngrams, documents = _frequent_ngrams(idf, table)
    ngrams, documents = _occurring(ngrams, documents, explained, metric, table)
    lengths, last, documents = _tree(ngrams, documents)
    weights = metric.weights(idf)
    return {
        "table": number,
        "documents": idf.n_documents,
        "scale": metric.scale,
        "clip": weights.clip,
        "relative": weights.relative,
        "factor": metric.factor_parameters,
        "ngrams": {
            "lengths": columns.integers(lengths),
            "words": columns.integers(last),
            "documents": columns.integers(documents),
        },
    }


def _frequent_ngrams(idf: DocumentFrequencies, table: TokenTable) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return n-grams of two or more documents, int32[n, 4] in token numbers of the page, and how many documents."""
    ngrams, documents = idf.counts.entries()
    frequent = documents > 1
    ngrams, documents = ngrams[frequent], documents[frequent]
    numbers = np.array([table.tokens.get(word, -2) for word in idf.vocabulary.words()] + [-1], np.int32)
    ngrams = numbers[ngrams]  # -1, after the end of an n-gram, stays
    on_page = (ngrams != -2).all(axis=1)
    return ngrams[on_page], documents[on_page]


def _occurring(
    ngrams: NDArray[np.int32],
    documents: NDArray[np.int64],
    explained: Explained,
    metric: Cider,
    table: TokenTable,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Select those that occur in captions of the page."""
    reports = explained.reports
    layer = WordLayer(metric.tokenizer)
    every = [
        reports[0].captions.references.layer(layer),
        *(report.single_captions.layer(layer)[0] for report in reports),
    ]
    hashes = np.unique(np.concatenate([_hashes(table.numbered(tokens), tokens.offsets) for tokens in every]))
    occurring = np.isin(_hash(ngrams), hashes)
    return ngrams[occurring], documents[occurring]


def _hashes(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return hashes of all n-grams of captions."""
    caption = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    padded = np.concatenate([ids, np.full(4, -1, np.int32)])
    caption = np.concatenate([caption, np.full(4, -1)])
    hashes = []
    for n in range(1, 5):
        whole = np.flatnonzero(caption[: len(ids)] == caption[n - 1 : len(ids) + n - 1])
        columns = [padded[whole + k] if k < n else np.full(len(whole), -1, np.int32) for k in range(4)]
        hashes.append(np.unique(_hash(np.stack(columns, axis=1))))
    return np.concatenate(hashes)


def _hash(ngrams: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each n-gram; collisions are harmless, as they only keep superfluous n-grams."""
    out = np.zeros(len(ngrams), np.uint64)
    for column in ngrams.T:
        out = (out ^ (column.astype(np.int64) + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return out


def _tree(
    ngrams: NDArray[np.int32], documents: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return n-grams in preorder: length, last word and frequency. Missing prefixes are added with frequency 1."""
    beginnings = [ngrams]
    for n in (1, 2, 3):
        longer = ngrams[ngrams[:, n] >= 0]
        longer[:, n:] = -1
        beginnings.append(longer)
    every = np.concatenate(beginnings)
    counts = np.concatenate([documents, np.ones(len(every) - len(documents), np.int64)])
    order = np.lexsort((-counts, *every.T[::-1]))
    every, counts = every[order], counts[order]
    first = np.concatenate([[True], (every[1:] != every[:-1]).any(axis=1)])[: len(every)]
    every, counts = every[first], counts[first]
    lengths = (every >= 0).sum(axis=1)
    return lengths, every[np.arange(len(every)), lengths - 1], counts


# coverage: the sentences of candidates and references, and how well they match.


def pack_coverage(metric: SentenceCoverage, explained: Explained) -> dict[str, Any]:
    """Pack the sentences of each reference, and per system the sentences of each candidate and all pair scores."""
    columns, rows = explained.columns, explained.rows.tolist()
    references = explained.reports[0].captions.references
    n_references = np.diff(references.offsets)[explained.rows]
    state = metric.fit(references)
    of_systems = [[*metric.matrices(report.single_captions, state, rows)] for report in explained.reports]
    return {
        "sentences": columns.strings([text for matrix in of_systems[0] for text in _texts(matrix.references)]),
        "counts": columns.integers(
            [
                count
                for matrix, n in zip(of_systems[0], n_references.tolist(), strict=True)
                for count in _lengths(matrix.references, n)
            ]
        ),
        "references": columns.integers(n_references),
        "systems": [
            {
                "sentences": columns.strings([text for matrix in matrices for text in _texts(matrix.candidate)]),
                "counts": columns.integers([len(matrix.candidate) for matrix in matrices]),
                "cells": columns.numbers(np.array([cell for m in matrices for row in m.matrix for cell in row], float)),
            }
            for matrices in of_systems
        ],
    }


def _texts(sentences: tuple[CoveredSentence, ...]) -> list[str]:
    return [drawing.single_line(sentence.text) for sentence in sentences]


def _lengths(sentences: tuple[CoveredSentence, ...], n_references: int) -> list[int]:
    """Return the number of sentences of each reference of an image; their names begin with that of the reference."""
    counts = Counter(int(sentence.name.partition(".")[0]) for sentence in sentences)
    return [counts[number] for number in range(1, n_references + 1)]


# METEOR: the alignment of each candidate with the reference that determines its score.


def pack_alignments(metric: Meteor, explained: Explained) -> dict[str, Any]:
    """Pack, per system, the reference, precision and recall of each image, and the matches of all images.

    A match is five numbers: the gap to the previous match in the candidate (which may be negative), its number of words
    there, the same for the reference, and its module.
    """
    columns = explained.columns
    table, _ = explained.tokens(MeteorLayer(metric.tokenizer, metric.tables))
    systems = []
    for report in explained.reports:
        captions = report.single_captions
        first = captions.references.offsets[explained.rows]
        best, statistics = metric.best_references(captions)
        precision, recall, _ = metric.parts(statistics[explained.rows])
        links = [*metric.best_alignments(captions, explained.rows.tolist())]
        counts = [len(matches) for matches in links]
        flat = np.concatenate(links) if links else np.empty((0, 5), np.int32)
        begins = np.concatenate([[True], np.diff(np.repeat(np.arange(len(counts)), counts)) > 0])[: len(flat)]
        gaps = [_gaps(flat[:, start], flat[:, start + 1], begins) for start in (0, 2)]
        systems.append(
            {
                "reference": columns.integers(best[explained.rows] - first),
                "precision": columns.numbers(np.nan_to_num(precision)),
                "recall": columns.numbers(np.nan_to_num(recall)),
                "counts": columns.integers(counts),
                "gaps": columns.integers(gaps[0]),
                "lengths": columns.integers(flat[:, 1]),
                "reference_gaps": columns.integers(gaps[1]),
                "reference_lengths": columns.integers(flat[:, 3]),
                "modules": columns.integers(flat[:, 4]),
            }
        )
    return {"table": table, "systems": systems}


def _gaps(starts: Any, lengths: Any, begins: Any) -> Any:
    """Return the words between the end of a match and the start of the next one; for the first match of a caption,
    before it.
    """
    ends = np.concatenate([[0], (starts + lengths)[:-1]])[: len(starts)]
    return starts - np.where(begins, 0, ends)


# SPICE: the tuples of each candidate and of the references of each image, their matches and their rows.

_BETWEEN = "\x1f"  # between the names of one thing


class _Graphs:
    """Scene graphs as numbers: counts of objects, attributes and relations, and their names."""

    def __init__(self, names: dict[str, int]) -> None:
        self._names = names
        self._known: dict[object, int] = {}
        self.counts: list[list[int]] = [[], [], []]
        self.concepts: list[int] = []

    def add(self, facts: Facts) -> None:
        for counts, kind in zip(self.counts, KINDS, strict=True):
            of_kind = facts.by_category[kind]
            counts.append(len(of_kind))
            self.concepts += [self._number(concept) for fact in of_kind for concept in fact]

    def _number(self, concept: Any) -> int:
        number = self._known.get(concept)
        if number is None:
            name = _BETWEEN.join(drawing.single_line(name).strip() for name in names_of(concept))
            number = self._known[concept] = self._names.setdefault(name, len(self._names))
        return number


def pack_scenes(metric: Spice, explained: Explained) -> dict[str, Any]:
    """Pack the counts and names of every graph, for every tuple of a candidate the number of its match, from 1, or 0,
    and for each candidate the rows of its tuples and of those of the references.
    """
    columns, rows = explained.columns, explained.rows.tolist()
    names: dict[str, int] = {}
    references: tuple[Facts, ...] = explained.reports[0].captions.references.layer(metric.layer)
    reference_graphs = _Graphs(names)
    for row in rows:
        reference_graphs.add(references[row])
    systems = []
    for report in explained.reports:
        candidates: tuple[Facts, ...] = report.single_captions.layer(metric.layer)[0]
        candidate_graphs = _Graphs(names)
        matches: list[int] = []
        row_lists: tuple[list[int], list[int]] = [], []
        for row in rows:
            candidate_graphs.add(candidates[row])
            partners = _matches(candidates[row], references[row])
            matches += [0 if match is None else match + 1 for match in partners]
            for all_rows, of_image in zip(
                row_lists, scene_rows(_tuples(candidates[row]), _tuples(references[row]), partners), strict=True
            ):
                all_rows += of_image
        systems.append(
            {
                **_packed(candidate_graphs, explained),
                "matches": columns.integers(matches),
                "rows": [columns.integers(side) for side in row_lists],
            }
        )
    return {
        "references": _packed(reference_graphs, explained),
        "systems": systems,
        "names": columns.strings([*names]),
        "between": _BETWEEN,
    }


def _tuples(facts: Facts) -> list[Fact]:
    return [fact for kind in KINDS for fact in facts.by_category[kind]]


def _matches(candidate: Facts, references: Facts) -> list[int | None]:
    """Return the number of the reference tuple that matches each tuple of the candidate."""
    number: dict[Fact | None, int] = {fact: i for i, fact in enumerate(_tuples(references))}
    return [number.get(references.find(fact, kind)) for kind in KINDS for fact in candidate.by_category[kind]]


def _packed(graphs: _Graphs, explained: Explained) -> dict[str, Any]:
    columns = explained.columns
    return {
        "counts": [columns.integers(counts) for counts in graphs.counts],
        "concepts": columns.integers(graphs.concepts),
    }


# BLEU and ROUGE-L: n-grams and common subsequences, which the page computes from the tokens of captions.


def pack_ngrams(metric: Bleu, explained: Explained) -> dict[str, Any]:
    """Pack the words of captions, and the smoothing of counts."""
    number, _ = explained.tokens(WordLayer(metric.tokenizer))
    return {"table": number, "added": metric.added}


def pack_subsequences(metric: RougeL, explained: Explained) -> dict[str, Any]:
    """Pack the tokens of captions, and the F-measure."""
    number, _ = explained.tokens(TokenLayer(metric.tokenizer))
    return {"table": number, "beta": metric.beta, "separately": metric.variant == "official"}


# WMD: the transport of words from the nearest reference to each candidate.


def pack_transport(metric: Wmd, explained: Explained) -> dict[str, Any]:
    """Pack, per system, the nearest reference of each image, and the moves of all images: a pair of words, and a share.

    The distance of a pair of words is stored once, however often it occurs.
    """
    columns = explained.columns
    pairs: dict[tuple[str, str], int] = {}
    distances: list[float] = []
    systems = []
    for report in explained.reports:
        captions = report.single_captions
        offsets = captions.references.offsets
        nearest = _nearest(metric.distances(captions), offsets)
        words = captions.layer(BagLayer(metric.words))[0].table.words
        counts, moves, shares = [], [], []
        for plan in metric.plans(captions, explained.rows.tolist(), nearest):
            counts.append(len(plan))
            for word, reference_word, share, distance in plan:
                pair = words[word], words[reference_word]
                if pair not in pairs:
                    pairs[pair] = len(pairs)
                    distances.append(distance)
                moves.append(pairs[pair])
                shares.append(share)
        systems.append(
            {
                "reference": columns.integers((nearest - offsets[:-1])[explained.rows]),
                "counts": columns.integers(counts),
                "moves": columns.integers(moves),
                "shares": columns.numbers(np.array(shares, np.float64)),
            }
        )
    numbers = {word: number for number, word in enumerate(dict.fromkeys(word for pair in pairs for word in pair))}
    return {
        "systems": systems,
        "words": columns.strings([*numbers]),
        "pairs": [columns.integers([numbers[pair[side]] for pair in pairs]) for side in (0, 1)],
        "distances": columns.numbers(np.array(distances, np.float64)),
        "sigma": metric.sigma,
    }


def _nearest(distances: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first of the nearest references of each image, as indices of all references."""
    least = np.repeat(np.minimum.reduceat(distances, offsets[:-1]), np.diff(offsets))
    nearest = np.flatnonzero(distances == least)
    return nearest[np.searchsorted(nearest, offsets[:-1])]


# concur: which words of candidates agree with the references, and what they miss.


def pack_words(metric: Concur, explained: Explained) -> dict[str, Any]:
    """Pack the tokens of captions, and per system the agreement of each word, missing words, and the features."""
    number, table = explained.tokens(WordLayer(metric.tokenizer))
    return {
        "table": number,
        "coefficients": metric.terms,
        "systems": [_system(metric, report, explained, table) for report in explained.reports],
    }


def _system(metric: Concur, report: Report, explained: Explained, table: TokenTable) -> dict[str, Any]:
    columns = explained.columns
    agreements = [*metric.explanations(report.single_captions.select(explained.rows))]
    words = [word for agreement in agreements for word in agreement.words]

    def numbers(values: Iterable[float]) -> Column:
        return columns.numbers(np.fromiter(values, np.float64))

    def tokens(values: Iterable[str | None]) -> Column:
        """Return their numbers plus 1, 0 for none."""
        return columns.integers([0 if token is None else table.number(token) + 1 for token in values])

    return {
        "scores": numbers(agreement.score for agreement in agreements),
        "centroids": numbers(agreement.centroid for agreement in agreements),
        "features": numbers(feature.value for agreement in agreements for feature in agreement.features),
        "cosines": {
            "counts": _counts(columns, [agreement.cosines for agreement in agreements]),
            "values": numbers(chain.from_iterable(agreement.cosines for agreement in agreements)),
        },
        "words": {
            "counts": _counts(columns, [agreement.words for agreement in agreements]),
            "shares": numbers(word.share for word in words),
            "similarities": numbers(word.similarity for word in words),
            "supported": columns.integers([word.status == "supported" for word in words]),
            "closest": tokens(word.closest for word in words),
            "instead": tokens(word.instead for word in words),
        },
        "missing": {
            "counts": _counts(columns, [agreement.missing for agreement in agreements]),
            "words": tokens(word for agreement in agreements for word, _ in agreement.missing),
            "losses": numbers(loss for agreement in agreements for _, loss in agreement.missing),
        },
        "unsound": columns.lists(map(_places, agreements)),
    }


def _counts(columns: Columns, lists: Sequence[Sequence[Any]]) -> Column:
    return columns.integers([len(values) for values in lists])


def _places(agreement: Agreement) -> list[int]:
    """Return the positions of words after unsound junctions; the end of a caption is after its last word."""
    ends = ["", *(word.word for word in agreement.words), ""]
    return [place for place, junction in enumerate(pairwise(ends)) if junction in agreement.unsound]


# Manifest entries for explanations: which metrics have one, and the data that the page needs.

#: The function that packs the explanations of a kind.
_PACK: Mapping[str, Callable[[Any, Explained], dict[str, Any]]] = {
    "alignment": pack_alignments,
    "coverage": pack_coverage,
    "ngram-matches": pack_ngrams,
    "ngram-weights": pack_ngram_weights,
    "scene": pack_scenes,
    "subsequences": pack_subsequences,
    "transport": pack_transport,
    "words": pack_words,
}


def explanations_of(explained: Explained) -> dict[str, Any]:
    """Return tables of tokens, and one entry per metric that can be explained."""
    packed = []
    with steps(_explainable(explained.reports[0]), lambda labeled: f"explaining {labeled[0]}") as metrics:
        for label, metric, outputs in metrics:
            about = _PACK[metric.explanation](metric, explained)
            layout = layout_values(metric.explanation)
            packed.append({"label": label, "kind": metric.explanation, "layout": layout, "explains": outputs, **about})
    every = len(explained.rows) == explained.reports[0].n_images
    return {
        "rows": None if every else explained.columns.integers(explained.rows),
        "tables": [table.pack(explained.columns) for table in explained.tables.values()],
        "metrics": packed,
    }


def _explainable(report: Report) -> list[tuple[str, BaseMetric, list[str]]]:
    """Yield the metrics that can be explained: requested ones, and parts of combined ones.

    Each comes with its label and the outputs that it explains.
    """
    metrics: dict[str, tuple[str, BaseMetric, list[str]]] = {}
    for label, result in report.items():
        if "|references:cat-" in result.signature:
            continue
        metric = result.statistics.metric
        for name, part in explained_parts(metric, label).items():
            if part.explanation not in _PACK:
                continue
            metrics.setdefault(part.signatures()[0], (name, part, []))[2].append(label)
    return [*metrics.values()]
