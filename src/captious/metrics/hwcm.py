"""HWCM: chains of head words that a candidate shares with its references.

Liu and Gildea 2005, "Syntactic features for evaluation of machine translation"; LCEval, Sharif et al. 2019.

A chain of length u goes from a word of the dependency tree down to one of its children, and so on: u words.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import UnknownNameError
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.shared.combining import checked_combine, combined
from captious.parsing.parse import Parse
from captious.parsing.parse_sources import as_parse_source
from captious.parsing.parsed_captions import ParsedCaptions, ParseSource
from captious.text import Tokenizer

__all__ = ["CHAINS", "Hwcm", "chains_of_strings", "chains_of_words"]

#: What chains may be made of.
CHAINS = ("lemma", "dep", "pos", "text")
#: Chains of one length each, from 1 on: chain -> how often it occurs.
ChainCounts: TypeAlias = list[Counter[tuple[str, ...]]]

_DEPTH = 4
_SMALL = 1e-9
# Factors for the sums of the first u recalls: instead of 1/3 the official code has a factor of two digits.
_FACTORS = np.array([1, 0.5, 0.33, 0.25])


class Hwcm(MeanMetric):
    """Head-word chains of the candidate that its best reference also has, 0 to 1, for maximum chain lengths 1 to 4.

    The corpus score is the mean. A caption without words scores 0.

    Args:
        chains: what chains are made of: lemmas, relations to the head (dep), parts of speech (pos) or words (text).
        parser: where parses come from: the parser of captious with the grammar "corenlp" or "captious", a spaCy
            pipeline ("spacy:en_core_web_sm"), a file of parses, or a source of your own; None for the best grammar
            available.
        combine: how to combine several references: "max", "mean" or "min" of the scores against each.
        variant: see ``variants``.
        tokenizer: see ``captious.text.as_tokenizer``.

    Raises:
        UnknownNameError: chains made of anything else, or no such way to combine.
    """

    name = "hwcm"
    outputs = ("hwcm-1", "hwcm-2", "hwcm-3", "hwcm-4")
    summary = "chains of head words shared with the best reference"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "LCEval's code: recall, averaged over lengths up to u",
        "paper": "share of the candidate's chains of length u",
    }

    def __init__(
        self,
        chains: str = "lemma",
        *,
        parser: ParseSource | str | os.PathLike[str] | None = None,
        combine: str = "max",
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb",
    ) -> None:
        super().__init__(variant=variant, tokenizer=tokenizer)
        if chains not in CHAINS:
            raise UnknownNameError(f"unknown chain type {chains!r}", help=f"available types: {', '.join(CHAINS)}")
        self.chains = chains
        self.parser = as_parse_source(parser)
        self.combine = checked_combine(self.name, combine)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "chains": self.chains, "parser": self.parser.label, "combine": self.combine}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(ParsedCaptions(self.tokenizer, self.parser))
        known: dict[int, ChainCounts] = {}
        offsets = captions.references.offsets
        scores = np.zeros((len(references.of_captions), _DEPTH))
        for parse, (start, end) in zip(candidates.of_captions, pairwise(offsets.tolist()), strict=True):
            ours = self._counted(parse, known)
            for row in range(start, end):
                scores[row] = self._overlap(ours, self._counted(references.of_captions[row], known))
        return combined(self.combine, scores, offsets)

    def _counted(self, parse: Parse, known: dict[int, ChainCounts]) -> ChainCounts:
        """Chains of each parse; equal captions share a parse."""
        if id(parse) not in known:
            count = chains_of_strings if self.variant == "official" else chains_of_words
            known[id(parse)] = count(_values(parse, self.chains), parse.heads)
        return known[id(parse)]

    def _overlap(self, candidate: ChainCounts, reference: ChainCounts) -> NDArray[np.float64]:
        """What a candidate and a reference share, for each length."""
        shared = np.array([(ours & theirs).total() for ours, theirs in zip(candidate, reference, strict=True)])
        of = reference if self.variant == "official" else candidate
        sizes = np.array([each.total() for each in of])
        if self.variant == "official":
            return np.asarray(_FACTORS * np.cumsum(shared / (sizes + _SMALL)))
        return np.asarray(shared / np.maximum(sizes, 1))


def _values(parse: Parse, chains: str) -> Sequence[str]:
    if chains == "pos":
        return parse.universal or parse.tags
    return {"lemma": parse.lemmas, "dep": parse.relations, "text": parse.words}[chains]


def chains_of_strings(values: Sequence[str], heads: Sequence[int]) -> ChainCounts:
    """Chains as LCEval's code has them: edges are joined where their words are written alike.

    So every place of a repeated word also gets the children of the others.

    Args:
        values: what stands for each of n words.
        heads: the head of each, from 1, or 0; words under the first root count.
    """
    edges, words = _tree(heads)
    counts: ChainCounts = [
        Counter((values[word],) for word in words),
        Counter((values[head], values[word]) for head, word in edges),
    ]
    while len(counts) < _DEPTH:
        longer: Counter[tuple[str, ...]] = Counter()
        for (head, *tail), n in counts[1].items():
            for chain, m in counts[-1].items():
                if chain[0] == tail[0]:
                    longer[head, *chain] += n * m
        counts.append(longer)
    return counts


def chains_of_words(values: Sequence[str], heads: Sequence[int]) -> ChainCounts:
    """Chains of words that are each the head of the next; arguments as above."""
    edges, words = _tree(heads)
    head_of = {word: head for head, word in edges}
    counts: ChainCounts = [Counter() for _ in range(_DEPTH)]
    for word in words:
        chain: tuple[str, ...] = ()
        at: int | None = word
        for count in counts:
            if at is None:
                break
            chain = (values[at], *chain)
            count[chain] += 1
            at = head_of.get(at)
    return counts


def _tree(heads: Sequence[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Edges (head, word) and words of the tree under the first root, words counted from 0."""
    children: dict[int, list[int]] = {}
    for word, head in enumerate(heads):
        children.setdefault(head - 1, []).append(word)
    waiting = children.get(-1, [])[:1]
    words, edges = [], []
    while waiting:
        head = waiting.pop()
        words.append(head)
        for word in children.get(head, ()):
            edges.append((head, word))
            waiting.append(word)
    return edges, words
