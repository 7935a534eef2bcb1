"""The metric of Yi et al., with a contextual encoder and without a model.

References are combined into one, so that candidates are not penalized for details that some references omit. Yi, Deng
and Hu 2020, "Improving image captioning evaluation by considering inter references variance".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import ParameterError, either, requesting
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import (
    FlagParameter,
    IntegerParameter,
    NumberParameter,
    Parameter,
    TokenizerParameter,
)
from captious.metrics.shared.arithmetic import share
from captious.metrics.shared.encoder_metric import EncoderMetric
from captious.metrics.shared.frequencies import TokenFrequencies, TokenFrequencyLayer
from captious.metrics.shared.stop_words import StopWordsParameter
from captious.models import EncodedTexts, EncodingLayer
from captious.progress import Progress
from captious.text import TokenLayer, Tokens
from captious.words import counted

# The metric with a contextual encoder.
#
# One reference, the base, is extended by the tokens of the others that match nothing in it or added before; the
# candidate is scored against that by a product of two recalls of contextual embeddings.

_LAYER = 8
_THRESHOLD = 0.4
_THRESHOLDS = {"roberta": 0.83, "xlm-roberta": 0.83, "camembert": 0.83}  # by architecture
_WORD_STARTS = "Ġ▁"  # prefixes that some tokenizers give the first piece of a word
_FEW_CAPTIONS = 100


class _Frequencies(Parameter[TokenFrequencies | None, TokenFrequencies | None]):
    """External token frequencies."""

    def check(self, metric: Any, value: Any) -> TokenFrequencies | None:
        if not isinstance(value, TokenFrequencies | None):
            raise ParameterError(
                f"token_idf must be TokenFrequencies, not {type(value).__name__}",
                hint="give TokenFrequencies.of(captions, encoder)",
            )
        return value


class Yi2020(EncoderMetric):
    """Recall of the combined references times recall without stop words; 0 to 1, higher is better.

    Every reference is the base once, and the score of a caption is the mean over bases, which is the expectation for
    the paper's random base. The corpus score is the mean over captions.

    Raises:
        ParameterError: a threshold outside its range; when scoring, a model without this layer, or without one special
            token at each end of a text, or frequencies of another model.
        ResourceError: a file of stop words that cannot be read.
    """

    name = "yi2020"
    english_only = True
    summary = "recall of contextual embeddings over the combined references, ignoring stop words"
    variants = {
        "official": "released code: added tokens take their neighbor's embedding, matched tokens are averaged",
        "paper": "as the paper describes it",
    }
    default_models = ("bert-base-uncased",)

    layer: IntegerParameter[int | None] = IntegerParameter(
        default=None, summary="layer whose hidden states are compared; none for 8, or the last of a model with fewer"
    )
    threshold: NumberParameter[float | None] = NumberParameter(
        default=None,
        least=0,
        most=1,
        below=True,
        summary="cosine above which tokens match; none for 0.4, or 0.83 for RoBERTa-like models",
    )
    combine: FlagParameter = FlagParameter(default=True, summary="add tokens of the other references to the base")
    cut: FlagParameter = FlagParameter(
        default=True, summary="leave out reference tokens that match none of the candidate's"
    )
    remove: FlagParameter = FlagParameter(default=True, summary="multiply by the recall without stop words")
    stop_words: StopWordsParameter = StopWordsParameter(default=None)
    #: The released code counts references and candidates: ``TokenFrequencies.of([*references, *candidates], encoder)``.
    token_idf: _Frequencies = _Frequencies(
        default=None, summary="frequencies that tokens are weighted by; none to count the references", signature_key=""
    )

    def setup(self) -> None:
        self.needs_fit = self.token_idf is None

    @property
    def match_threshold(self) -> float:
        """Cosine above which tokens match."""
        return _THRESHOLDS.get(self.encoder.family, _THRESHOLD) if self.threshold is None else self.threshold

    @property
    def compared_layer(self) -> int:
        """The layer whose hidden states are compared."""
        return min(_LAYER, self.encoder.n_blocks) if self.layer is None else self.layer

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "layer": self.compared_layer, "threshold": self.match_threshold}

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        if self.token_idf is not None:
            return {"idf": f"{self.token_idf.label}-{self.token_idf.checksum}"}
        return {"idf": state.label if state is not None else "references"}

    def fit(self, references: References) -> TokenFrequencies:
        """Return the frequencies of the metric, or else those of these references."""
        return self.token_idf or references.layer(TokenFrequencyLayer(self.encoder))

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        idf = TokenFrequencies.checked(state or self.fit(captions.references), self.encoder)
        if self.encoder.tokenizer.num_special_tokens_to_add() != 2:
            raise ParameterError(
                "yi2020 needs a model that puts one special token before and one after a text",
                where=self.encoder.model,
                hint="give a model such as BERT or RoBERTa",
            )
        layer = EncodingLayer(self.encoder, self.compared_layer)
        candidates, references = captions.layer(layer)
        combinations = captions.references.layer(
            _CombinationLayer(layer, self.match_threshold if self.combine else None, shifted=self.variant == "official")
        )
        weights, content = self._weights(idf), ~self._stop_tokens()
        scores = np.zeros(len(captions))
        with Progress(max(1, len(captions))) as progress:
            for i, (first, end) in enumerate(pairwise(captions.references.offsets.tolist())):
                progress.reach(i, "comparing captions")
                tokens, vectors = _inner_tokens(candidates, i)
                if not len(tokens):
                    continue
                similarity = _rows(references, first, end) @ vectors.T
                rows, ids, bases = combinations.of_image(i)
                best = similarity.max(axis=1)[rows]
                matched_weights = weights[ids] * self._matched(best)
                recall = _share(matched_weights * best, matched_weights, bases, end - first)
                if self.remove:
                    is_content = content[tokens]
                    if not is_content.any():
                        continue
                    best = similarity[:, is_content].max(axis=1)
                    recall *= self._content_recall(best[rows], content[ids], bases, end - first)
                scores[i] = recall.mean()
        return scores

    def _content_recall(
        self, best: NDArray[np.float32], content: NDArray[np.bool_], bases: NDArray[np.int32], n_bases: int
    ) -> NDArray[np.float64]:
        """Return the mean similarity of matched content words, float64[n_bases]; the paper divides by the number of all
        content words.
        """
        matched = content & self._matched(best)
        counted = matched if self.variant == "official" else content
        return _share(matched * best, counted.astype(np.float64), bases, n_bases)

    def _matched(self, best: NDArray[np.float32]) -> NDArray[np.bool_]:
        return best > self.match_threshold if self.cut else np.ones(len(best), bool)

    def _weights(self, idf: TokenFrequencies) -> NDArray[np.float64]:
        """Return the inverse document frequency by token id."""
        if self.variant == "official":
            return idf.weights
        return np.log10(max(idf.n_captions, 1) / np.maximum(idf.counts, 1))  # unseen tokens count as the rarest

    def _stop_tokens(self) -> NDArray[np.bool_]:
        """Return a mask of the ids of stop words. Continuation pieces, such as BERT's ##s, are not stop words."""
        tokens = self.encoder.tokenizer.convert_ids_to_tokens(range(len(self.encoder.tokenizer)))
        return np.array([token.lstrip(_WORD_STARTS) in self.stop_words for token in tokens], bool)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        idf = state or self.fit(captions.references)
        assert isinstance(idf, TokenFrequencies)
        messages = []
        if self.layer is None and self.compared_layer < _LAYER:
            messages.append(
                f"{self.encoder.name} has no layer {_LAYER}, so yi2020 uses the last one, "
                f"{self.compared_layer}; a different layer, with a threshold other than {self.match_threshold}, may "
                "agree better with human judgments "
                f"({requesting('yi2020:layer=N,threshold=T')})."
            )
        if idf.n_captions < _FEW_CAPTIONS:
            messages.append(
                f"yi2020 weights tokens by inverse document frequency, and only "
                f"{counted(idf.n_captions, 'caption', 'were')} "
                "counted: the score is unreliable. Use the frequencies of a large corpus"
                f"{either(python=' (captious.Yi2020(token_idf=...))', command='')}."
            )
        return messages


@dataclass(frozen=True, eq=False)
class _Combined:
    """References combined, once for each base.

    Args:
        tokens: int32[3, n]: hidden states, as numbers among all those of the image's references, special tokens
            included; token ids for their weights and stop words; and the base reference of each.
        offsets: int64[n_images + 1].
    """

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def of_image(self, i: int) -> NDArray[np.int32]:
        return self.tokens[:, self.offsets[i] : self.offsets[i + 1]]


@dataclass(frozen=True)
class _CombinationLayer:
    """Combined references as a layer, shared by systems scored against the same references.

    Args:
        encoding: the hidden states.
        threshold: cosine above which tokens match; None to combine nothing.
        shifted: as in the released code, which uses for the first added token the state of the base's closing token,
            and for every other one the state before that of the previous added token.
    """

    encoding: EncodingLayer
    threshold: float | None
    shifted: bool

    def of_references(self, references: References) -> _Combined:
        encoded = references.layer(self.encoding)
        combined = [np.empty((3, 0), np.int32)]
        with Progress(max(1, len(references))) as progress:
            for i, (first, end) in enumerate(pairwise(references.offsets.tolist())):
                progress.reach(i, "combining references")
                combined.append(self._combine_references(encoded, first, end))
        return _Combined(np.concatenate(combined, axis=1), np.cumsum([of_image.shape[1] for of_image in combined]))

    def _combine_references(self, encoded: EncodedTexts, first: int, end: int) -> NDArray[np.int32]:
        ids = [encoded.ids[text] for text in encoded.rows[first:end].tolist()]
        starts = np.cumsum([0, *(len(sequence) for sequence in ids)])
        tokens = np.concatenate([np.array(sequence, np.int32) for sequence in ids])
        inner = np.ones(len(tokens), bool)
        inner[starts[:-1]] = inner[starts[1:] - 1] = False  # special tokens at both ends
        owner = np.repeat(np.arange(end - first), np.diff(starts))
        new = self._new(_rows(encoded, first, end), inner, starts, owner) if self.threshold is not None else None
        combined = []
        for base in range(end - first):
            positions = np.arange(starts[base] + 1, starts[base + 1] - 1)
            added = np.empty(0, np.int64) if new is None else np.flatnonzero(new[:, base])
            read_from = added
            if self.shifted and len(added):
                read_from = np.concatenate([[starts[base + 1] - 1], added[:-1] - 1])
            rows = np.concatenate([positions, read_from])
            stands_for = tokens[np.concatenate([positions, added])]
            combined.append(np.stack([rows, stands_for, np.full(len(rows), base)]).astype(np.int32))
        return np.concatenate(combined, axis=1)

    def _new(
        self,
        vectors: NDArray[np.float32],
        inner: NDArray[np.bool_],
        starts: NDArray[np.int64],
        owner: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Return which tokens of other references are added to each base, bool[tokens, references].

        A token is added if no token of the base, or of a reference before its own, matches it.
        """
        similarity = vectors @ vectors.T
        similarity[:, ~inner] = 0  # from which the search for the largest starts
        matched = np.maximum.reduceat(similarity, starts[:-1], axis=1) > self.threshold
        before = np.arange(len(starts) - 1) < owner[:, None]
        is_matched = matched | (matched & before).any(axis=1, keepdims=True)
        new: NDArray[np.bool_] = ~is_matched & inner[:, None] & (np.arange(len(starts) - 1) != owner[:, None])
        return new


def _rows(encoded: EncodedTexts, first: int, end: int) -> NDArray[np.float32]:
    """Return the hidden states of captions concatenated, special tokens included, each of norm 1."""
    vectors = np.concatenate([encoded.vectors.read(text) for text in encoded.rows[first:end].tolist()])
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _inner_tokens(encoded: EncodedTexts, i: int) -> tuple[list[int], NDArray[np.float32]]:
    """Return token ids of a caption without the special ones at its ends, and their hidden states, each of norm 1."""
    return encoded.ids[int(encoded.rows[i])][1:-1], _rows(encoded, i, i + 1)[1:-1]


def _share(
    amounts: NDArray[np.floating], of: NDArray[np.floating], bases: NDArray[np.int32], n: int
) -> NDArray[np.float64]:
    """Return the sum of amounts divided by the sum of ``of``, by base; 0 if the latter is 0."""
    return share(np.bincount(bases, amounts, n), np.bincount(bases, of, n))


# The metric without a model: the share of the words of all references together in the candidate.
#
# Yi, Deng and Hu 2020, the variant on unigrams; official implementation: run_metric_simple.py of their code.


class Yi2020Unigram(MeanMetric):
    """Share of the references' distinct words that occur in the candidate, excluding stop words.

    0 to 1, higher is better; 0 if the references have only stop words. The corpus score is the mean.

    Raises:
        ResourceError: a file of stop words that cannot be read.
    """

    name = "yi2020-unigram"
    english_only = True
    summary = "share of the words of all references together found in the candidate"
    variants = {"official": "run_metric_simple.py"}

    tokenizer: TokenizerParameter = TokenizerParameter(default="whitespace", summary="how captions become words")
    stop_words: StopWordsParameter = StopWordsParameter(default=None)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(TokenLayer(self.tokenizer))
        words = candidates.vocabulary.words()
        content = np.array([word not in self.stop_words for word in words], bool)
        image = np.repeat(np.arange(len(captions)), np.diff(captions.references.offsets))
        all_pairs = _pairs(references, image, content)
        shared = np.intersect1d(all_pairs, _pairs(candidates, np.arange(len(captions)), content), assume_unique=True)
        of_image = [np.bincount(pairs // len(words), minlength=len(captions)) for pairs in (shared, all_pairs)]
        return np.asarray(of_image[0] / np.maximum(of_image[1], 1))


def _pairs(tokens: Tokens, image: NDArray[np.int64], content: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return each distinct content word of an image once, as a number: image * size of the vocabulary + word.

    Args:
        image: int64[n_captions], the image of each caption.
        content: bool[size of the vocabulary].
    """
    is_content = content[tokens.ids]
    return np.unique(np.repeat(image, tokens.lengths)[is_content] * len(content) + tokens.ids[is_content])
