"""BERTScore: greedy matching of every token with the most similar token of the other caption, by contextual embeddings.

Zhang, Kishore, Wu, Weinberger and Artzi 2020, sections 3 and 4. The official variant is the package bert_score 0.3.13,
the other variant the function ``bert_score`` of torchmetrics, which aac-metrics calls.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import ParameterError, ResourceError, either, requesting
from captious.files import user_text
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import FlagParameter, IntegerParameter, Parameter
from captious.metrics.shared.arithmetic import combine_references, f_measure, share
from captious.metrics.shared.encoder_metric import EncoderMetric, cut_warning
from captious.metrics.shared.frequencies import TokenFrequencies, TokenFrequencyLayer
from captious.models import EncodedTexts, EncodingLayer
from captious.words import shortened

#: The layer that correlates best with human judgments on WMT16, by model, as in bert_score 0.3.13.
LAYERS: Mapping[str, int] = json.loads((files("captious.resources") / "bertscore-layers.json").read_text("utf-8"))
#: Owners that the hub has since added to the names of models without one.
_OWNERS = ("albert", "distilbert", "FacebookAI", "google-bert", "google-t5", "xlnet")
#: Scores of unrelated English sentences, as published: (model, layer) -> P, R, F.
_BASELINES = {
    ("roberta-large", 17): (0.83150584, 0.8314941, 0.83122575),
    ("bert-base-uncased", 9): (0.35375935, 0.3537393, 0.35219112),
}
#: Tokenizers that treat a word differently at the start of a text; bert_score puts a space before the text.
_BLANK_FIRST = ("gpt2", "roberta")
_FEW_CAPTIONS = 100
_FLOATS_PER_STEP = 1 << 22


class _Rescale(
    Parameter[bool | Sequence[float] | str | os.PathLike[str], bool | Sequence[float] | str | os.PathLike[str]]
):
    """True for the published baseline of the model, (P, R, F), or a file with lines of ``LAYER,P,R,F``."""

    text_form = "true or false or text"

    def parse(self, text: str) -> bool | str:
        try:
            return FlagParameter.truth(text)
        except ValueError:
            return text


class BertScore(EncoderMetric):
    """Precision, recall and F of greedy matching, 0 to 1, higher is better; may be below 0 when rescaled.

    A token whose best cosine is negative counts 0. With several references, the best one is used, for P, R and F
    separately. An empty candidate or reference scores 0.

    Raises:
        ParameterError: an unknown layer, or no baseline for this model and layer.
        ResourceError: a file without baselines.
    """

    name = "bertscore"
    outputs = ("bertscore-p", "bertscore-r", "bertscore-f")
    summary = "greedy matching of tokens by the cosine of contextual embeddings: precision, recall, F"
    variants = {
        "official": "bert_score 0.3.13",
        "torchmetrics": "torchmetrics 1.9: the last layer, and special tokens are not matched",
    }
    default_models = ("roberta-large",)

    layer: IntegerParameter[int | None] = IntegerParameter(
        default=None, summary="layer whose hidden states are compared; none for that of bert_score, or the last"
    )
    token_idf: FlagParameter = FlagParameter(
        default=False, summary="weight tokens by their inverse document frequency in the references", signature_key=""
    )
    rescale: _Rescale = _Rescale(
        default=False, summary="map a baseline to 0: the published one (true), or a baseline file of bert_score"
    )

    def setup(self) -> None:
        self.needs_fit = self.token_idf
        self._is_official = self.variant == "official"
        self._baseline = None if isinstance(self.rescale, bool | str | os.PathLike) else _numbers(self.rescale)

    @property
    def compared_layer(self) -> int:
        """Layer whose hidden states are compared."""
        if self.layer is not None:
            return self.layer
        published = LAYERS.get(_published_name(self.encoder.model)) if self._is_official else None
        return published or self.encoder.n_blocks

    @property
    def baseline(self) -> tuple[float, float, float] | None:
        """P, R and F that are mapped to 0; None if scores are not rescaled."""
        if self._baseline is None and self.rescale is not False:
            if self.rescale is True:
                self._baseline = _published_baseline(self.encoder.model, self.compared_layer)
            else:
                assert isinstance(self.rescale, str | os.PathLike)
                self._baseline = _read_baseline(Path(self.rescale), self.compared_layer)
        return self._baseline

    @property
    def parameters(self) -> Mapping[str, object]:
        rescale = "no" if self.baseline is None else ",".join(f"{number:.8g}" for number in self.baseline)
        return {**super().parameters, "layer": self.compared_layer, "rescale": rescale}

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        return {"idf": "no" if not self.token_idf else state.label if state is not None else "references"}

    def fit(self, references: References) -> TokenFrequencies | None:
        """Count the references with each token, if tokens are weighted."""
        if not self.token_idf:
            return None
        layer = self._encoding
        if layer.lead is None:
            return references.layer(TokenFrequencyLayer(self.encoder))
        return TokenFrequencies.of(layer.form(references.texts), self.encoder, "references")

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        messages = self.layer_warnings()
        counted = state.n_captions if isinstance(state, TokenFrequencies) else len(captions.references.texts)
        if self.token_idf and counted < _FEW_CAPTIONS:
            messages.append(
                "bertscore weights tokens by their inverse document frequency in the references, and there "
                f"{'is' if counted == 1 else 'are'} only {counted:,}: the score is unreliable and cannot be compared "
                "with others."
            )
        for encoded, what in zip(captions.layer(self._encoding), ("candidate", "reference"), strict=True):
            cut = self.encoder.were_cut(encoded.texts, encoded.ids)[encoded.rows]
            messages += cut_warning(cut, what, self.encoder.name, self.encoder.max_length)
        return messages

    def layer_warnings(self) -> list[str]:
        """Return a warning if the compared layer is neither specified nor that of bert_score, without loading the
        model.
        """
        if not self._is_official or self.layer is not None or _published_name(self.encoder.model) in LAYERS:
            return []
        return [
            f"bert_score defines no layer for {self.tokens}, so bertscore uses the last one, {self.compared_layer}; "
            f"another may agree better with human judgments ({requesting('bertscore:layer=N')})."
        ]

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return caption scores, float64[n, 3]."""
        if self.token_idf and state is None:
            state = self.fit(captions.references)
        candidates, references = captions.layer(self._encoding)
        weights = [self._weights(encoded, state) for encoded in (candidates, references)]
        offsets = captions.references.offsets
        rows = np.repeat(candidates.rows, np.diff(offsets))
        precision, recall = _match(
            candidates, weights[0], rows, references, weights[1], references.rows, with_ends=self._is_official
        )
        special = self.encoder.tokenizer.num_special_tokens_to_add()
        empty = (_lengths(candidates)[rows] <= special) | (_lengths(references)[references.rows] <= special)
        precision[empty] = recall[empty] = 0
        of_pairs = np.stack([precision, recall, f_measure(precision, recall)], axis=1)
        best = combine_references("max", of_pairs, offsets)
        if self.baseline is None:
            return best
        baseline = np.array(self.baseline)
        return np.asarray((best - baseline) / (1 - baseline))

    @property
    def _encoding(self) -> EncodingLayer:
        """The encoding layer: texts are stripped and prefixed with a space if that makes a difference.

        torchmetrics encodes texts as they are.
        """
        if not self._is_official:
            return EncodingLayer(self.encoder, self.compared_layer)
        as_they_are, stripped = self.encoder.tokenize([" a dog ", "a dog"])
        lead = " " if self.encoder.family in _BLANK_FIRST else None if as_they_are == stripped else ""
        return EncodingLayer(self.encoder, self.compared_layer, lead)

    def _weights(self, encoded: EncodedTexts, state: State | None) -> NDArray[np.float64]:
        """Return the share of each token in the total weight of its text, concatenated; 0 if the total is 0."""
        ids = np.fromiter(chain.from_iterable(encoded.ids), np.int64, int(encoded.vectors.offsets[-1]))
        lengths = _lengths(encoded)
        weights = self._token_weights(state)[ids]
        if not self._is_official:
            places = np.arange(len(ids)) - np.repeat(encoded.vectors.offsets[:-1], lengths)
            weights[(places == 0) | (places == np.repeat(lengths, lengths) - 1)] = 0
        text = np.repeat(np.arange(len(encoded.ids)), lengths)
        return share(weights, np.bincount(text, weights, len(encoded.ids))[text])

    def _token_weights(self, state: State | None) -> NDArray[np.float64]:
        """Return the weight of each token id, float64[size of the vocabulary]."""
        tokenizer = self.encoder.tokenizer
        if state is None:
            weights = np.ones(len(tokenizer))
            if self._is_official:
                weights[[i for i in (tokenizer.cls_token_id, tokenizer.sep_token_id) if i is not None]] = 0
            return weights
        return TokenFrequencies.checked(state, self.encoder).weights


def _match(
    candidates: EncodedTexts,
    candidate_weights: NDArray[np.float64],
    candidate_rows: NDArray[np.int64],
    references: EncodedTexts,
    reference_weights: NDArray[np.float64],
    reference_rows: NDArray[np.int64],
    *,
    with_ends: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return precision and recall of pairs of texts, float64[n_pairs] each (equations 1 and 4 of the paper).

    Pairs with equal lengths on both sides are matched in one step. The first and last tokens of each text, which are
    special, are matched only ``with_ends``.
    """
    n = len(candidate_rows)
    lengths = _lengths(candidates)[candidate_rows], _lengths(references)[reference_rows]
    order = np.lexsort((candidate_rows, *lengths))
    ends = np.flatnonzero(np.any([np.diff(length[order]) for length in lengths], axis=0)) + 1
    precision, recall = np.zeros(n), np.zeros(n)
    for alike in np.split(order, ends) if n else []:
        tokens = int(lengths[0][alike[0]] + lengths[1][alike[0]])
        at_once = max(1, _FLOATS_PER_STEP // (tokens * candidates.vectors.width))
        for start in range(0, len(alike), at_once):
            pairs = alike[start : start + at_once]
            candidate_vectors, candidate_vector_weights = _texts(candidates, candidate_weights, candidate_rows[pairs])
            reference_vectors, reference_vector_weights = _texts(references, reference_weights, reference_rows[pairs])
            if not with_ends:
                candidate_vectors[:, [0, -1]] = reference_vectors[:, [0, -1]] = 0
            # bert_score sets padding to 0 before it takes the maximum, so nothing is below 0.
            similarity = np.maximum(candidate_vectors @ reference_vectors.transpose(0, 2, 1), 0)
            precision[pairs] = (similarity.max(axis=2) * candidate_vector_weights).sum(axis=1)
            recall[pairs] = (similarity.max(axis=1) * reference_vector_weights).sum(axis=1)
    return precision, recall


def _lengths(encoded: EncodedTexts) -> NDArray[np.int64]:
    """Return the number of tokens of each text, special ones included."""
    return np.diff(encoded.vectors.offsets)


def _texts(
    encoded: EncodedTexts, weights: NDArray[np.float64], texts: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return hidden states of texts of equal length n, each of norm 1, float32[k, n, d], and weights, float64[k, n]."""
    vectors = encoded.vectors.read_alike(texts)
    vectors = vectors / np.sqrt(np.einsum("ktd,ktd->kt", vectors, vectors))[..., None]
    return vectors, weights[encoded.vectors.offsets[texts][:, None] + np.arange(vectors.shape[1])]


def _published_name(model: str) -> str:
    """Return bert_score's name of a model on the hub, or of a folder of the same name."""
    owner, _, name = model.rpartition("/")
    return name if owner in _OWNERS or Path(model).is_dir() else model


def _published_baseline(model: str, layer: int) -> tuple[float, float, float]:
    baseline = _BASELINES.get((_published_name(model), layer))
    if baseline is None:
        published = " and ".join(f"{name} (layer {number})" for name, number in _BASELINES)
        raise ParameterError(
            f"no baseline is known for layer {layer} of {model}",
            hint=f"known: {published}; for others give a file of bert_score's baselines, bertscore:rescale=FILE",
        )
    return baseline


def _numbers(baseline: Sequence[float]) -> tuple[float, float, float]:
    try:
        p, r, f = (float(number) for number in baseline)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{shortened(baseline)} is not a baseline",
            hint=either(python="give rescale=(P, R, F), a file, True or False", command="give a file, true or false"),
        ) from error
    if not all(-1 <= number < 1 for number in (p, r, f)):
        raise ParameterError(
            f"invalid baseline for bertscore: {p:g}, {r:g}, {f:g}",
            hint="each number must be at least -1 and below 1",
        )
    return p, r, f


def _read_baseline(path: Path, layer: int) -> tuple[float, float, float]:
    help = "give a file like those in bert_score's rescale_baseline folder: LAYER,P,R,F and one line per layer"
    try:
        lines = user_text(path, "baselines", help).splitlines()
        rows = {int(row["LAYER"]): (row["P"], row["R"], row["F"]) for row in csv.DictReader(lines)}
        baseline = [float(number) for number in rows[layer]] if layer in rows else None
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise ResourceError("not a baseline file", where=str(path), hint=help) from error
    if baseline is None:
        raise ResourceError(f"no baseline for layer {layer}", where=str(path), hint=help)
    return _numbers(baseline)
