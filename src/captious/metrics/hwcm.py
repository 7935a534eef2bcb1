"""HWCM: chains of head words that a candidate shares with its references.

Liu and Gildea 2005, "Syntactic features for evaluation of machine translation"; LCEval, Sharif et al. 2019.

A chain of length u is a downward path of u words in the dependency tree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import ChoiceParameter
from captious.metrics.shared.arithmetic import CombineParameter, combine_references
from captious.metrics.shared.scene_encoder import ParserParameter, parsed_in_pieces, slow_parses
from captious.parsing.head_chains import HeadTrees, chains_of_strings, chains_of_words, shared
from captious.parsing.parses import Parse
from captious.parsing.sources import ParsedCaptions

#: The elements of chains.
CHAINS = ("lemma", "dep", "pos", "text")
_DEPTH = 4
_IMAGES_AT_ONCE = 4096  # about 60 MB of chains
_SMALL = 1e-9
# Factors for the sums of the first u recalls: instead of 1/3 the official code has a factor of two digits.
_FACTORS = np.array([1, 0.5, 0.33, 0.25])


class Hwcm(MeanMetric):
    """Share of the candidate's head-word chains in its best reference, 0 to 1, for maximum chain lengths 1 to 4.

    The corpus score is the mean. A caption without words scores 0.
    """

    name = "hwcm"
    english_only = True
    outputs = ("hwcm-1", "hwcm-2", "hwcm-3", "hwcm-4")
    summary = "chains of head words shared with the best reference"
    variants = {
        "official": "LCEval's code: recall, averaged over lengths up to u",
        "paper": "share of the candidate's chains of length u",
    }

    chains: ChoiceParameter = ChoiceParameter(
        default="lemma",
        choices=CHAINS,
        refusal="unknown chain type {value}",
        summary="what chains are made of: lemmas, relations to the head, parts of speech, or words",
    )
    parser: ParserParameter = ParserParameter(default=None)
    combine: CombineParameter = CombineParameter(default="max")

    def slow(self, captions: Captions) -> str:
        return slow_parses(captions, self.tokenizer, self.parser)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return parsed_in_pieces(captions, self.tokenizer, self.parser)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(ParsedCaptions(self.tokenizer, self.parser))
        offsets = captions.references.offsets
        scores = np.empty((len(references.of_captions), _DEPTH))
        for start in range(0, len(captions), _IMAGES_AT_ONCE):
            stop = min(start + _IMAGES_AT_ONCE, len(captions))
            rows = slice(int(offsets[start]), int(offsets[stop]))
            candidate_parses, reference_parses = candidates.of_captions[start:stop], references.of_captions[rows]
            of_images = np.repeat(np.arange(stop - start), np.diff(offsets[start : stop + 1]))
            scores[rows] = self._shared(candidate_parses, reference_parses, of_images)
        return combine_references(self.combine, scores, offsets)

    def _shared(
        self, candidate_parses: Sequence[Parse], reference_parses: Sequence[Parse], of_images: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the chains that candidates share with each of their references, float64[n_references, 4]."""
        distinct = [*{id(parse): parse for parse in (*candidate_parses, *reference_parses)}.values()]
        number = {id(parse): i for i, parse in enumerate(distinct)}  # equal captions share a parse
        trees = HeadTrees.of([_values(parse, self.chains) for parse in distinct], [parse.heads for parse in distinct])
        candidates = np.array([number[id(parse)] for parse in candidate_parses], np.int64)[of_images]
        references = np.array([number[id(parse)] for parse in reference_parses], np.int64)
        if self.variant == "official":
            chains = chains_of_strings(trees, _DEPTH)
            recalls = [shared(of, candidates, references) / (of.totals[references] + _SMALL) for of in chains]
            return np.asarray(_FACTORS * np.cumsum(np.stack(recalls, axis=1), axis=1))
        chains = chains_of_words(trees, _DEPTH)
        shares = [shared(of, candidates, references) / np.maximum(of.totals[candidates], 1) for of in chains]
        return np.stack(shares, axis=1)


def _values(parse: Parse, chains: str) -> Sequence[str]:
    if chains == "pos":
        return parse.universal or parse.tags
    return {"lemma": parse.lemmas, "dep": parse.relations, "text": parse.words}[chains]
