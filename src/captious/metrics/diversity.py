"""Diversity of several candidates of an image: Distinct, Div, LSA diversity, mBLEU, Novel and Self-CIDEr."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, References, read_references
from captious.data.rows import image_list
from captious.errors import ParameterError, setting
from captious.metrics.bleu import Bleu
from captious.metrics.cider import Cider, CiderD
from captious.metrics.contract.metric import MeanMetric, SetMeanMetric, SetMetric, State, mean_of_scored, scored
from captious.metrics.contract.parameters import ResourceParameter, TokenizerParameter
from captious.metrics.shared.arithmetic import check_candidates, combine_references, spread
from captious.metrics.shared.frequencies import DocumentFrequencies, FrequenciesParameter
from captious.native import Vocabulary, bleu_statistics_within, distinct_ngrams, threads
from captious.text import NgramLayer, Tokenizer, Tokens, WordLayer
from captious.words import counted_of

# Distinct: the share of an image's candidates that differ from each other.
#
# The share of distinct captions in the whole corpus, which some papers report, is not a mean over images; a report of
# several candidates per image includes it in its description (``captious.evaluation.report``).


class Distinct(SetMeanMetric):
    """Distinct candidates of an image divided by its candidates, above 0 to 1; 1 for a single candidate.

    Captions are equal if their tokens are. The corpus score is the mean over images.

    Statistics (k = 2): the score, and 1.
    """

    name = "distinct"
    summary = "share of distinct captions among an image's candidates"
    variants = {"paper": "captions of equal tokens are the same"}
    needs_references = False

    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        numbers = sets.candidates.layer(WordLayer(self.tokenizer)).equal()
        image_of = np.repeat(np.arange(len(sets)), sets.counts)
        size = len(numbers) + 1
        pairs = np.unique(image_of * size + numbers)
        return np.bincount(pairs // size, minlength=len(sets)) / sets.counts


# Div-1 and Div-2: distinct n-grams among the candidates of an image, over their number of words.
#
# Shetty et al. 2017, after Li et al. 2016 (distinct-1 and distinct-2). The official variant is `compute_div_n` of
# self-critical.pytorch (`div_utils.py`).

_SMALL = 1e-6  # added by the official code to the number of words


class Div(SetMeanMetric):
    """Div-1 and Div-2, each 0 to 1, higher is more diverse. The corpus score is the mean over images.

    Both are divided by the number of words of all candidates of the image: Div-2 of captions without a common bigram is
    below 1. N-grams do not cross captions.

    Statistics (k = 4): both scores, and 1 twice.
    """

    name = "div"
    outputs = ("div-1", "div-2")
    summary = "distinct words and bigrams of an image's candidates"
    variants = {
        "official": "self-critical.pytorch: 1e-6 added to the number of words",
        "paper": "nothing added; 0 without words",
    }
    needs_references = False

    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        distinct = distinct_ngrams(sets.candidates.layer(NgramLayer(self.tokenizer)))[:, :2]
        tokens = sets.candidates.layer(WordLayer(self.tokenizer))
        ends = tokens.offsets[sets.candidates.offsets]
        words = np.diff(ends)[:, None]
        if self.variant == "official":
            return np.asarray(distinct / (_SMALL + words))
        return np.asarray(distinct / np.maximum(words, 1))


# LSA diversity: the number of directions spanned by the word counts of an image's candidates.
#
# Wang and Chan 2019 ("Describing like humans: on diversity in image captioning", CVPR), and their code,
# DiversityMetrics.

_LSA_BATCH = 20_000  # candidates whose matrices are in memory at a time


class Lsa(SetMeanMetric):
    """LSA diversity, 0 to 1, higher is more diverse. The corpus score is the mean over images.

    With the singular values s of the matrix of word counts, words by captions, and m candidates, the score is
    -ln(max s / sum s) / ln m: 0 for captions with the same words, 1 for captions of equal length that share none.
    Images with one candidate, or without words, have no score.

    Statistics (k = 2): the score or 0, and whether there is one.

    Raises:
        ParameterError: an image with too many candidates.
    """

    name = "lsa"
    summary = "spread of the singular values of word counts of an image's candidates"
    variants = {"official": "DiversityMetrics: raw counts, without weights"}
    needs_references = False
    needs_two = True

    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        check_candidates(self.name, sets)
        tokens = sets.candidates.layer(WordLayer(self.tokenizer))
        counts, bounds = sets.counts, tokens.offsets[sets.candidates.offsets]
        scores = np.full(len(sets), np.nan)
        caption_of = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
        image_of = np.repeat(np.arange(len(sets)), np.diff(bounds))
        # Number the distinct words of each image from 0.
        size = len(tokens.vocabulary) + 1
        distinct, word_of = np.unique(image_of * size + tokens.ids, return_inverse=True)
        first_word = np.searchsorted(distinct, np.arange(len(sets) + 1) * size)
        within = word_of - first_word[image_of]
        column = caption_of - sets.candidates.offsets[image_of]
        widths = np.diff(first_word)
        for m in np.unique(counts[counts > 1]).tolist():
            # Images of about equally many words together, so that little is padded with zeros.
            rows = np.flatnonzero((counts == m) & (widths > 0))
            rows = rows[np.argsort(widths[rows], kind="stable")]
            for part in np.array_split(rows, -(-len(rows) * m // _LSA_BATCH)) if len(rows) else []:
                matrices = np.zeros((len(part), int(widths[part].max()), m))
                place = np.full(len(sets), -1)
                place[part] = np.arange(len(part))
                entries = np.flatnonzero(place[image_of] >= 0)
                np.add.at(matrices, (place[image_of[entries]], within[entries], column[entries]), 1.0)
                scores[part] = spread(np.linalg.svd(matrices, compute_uv=False), m)
        return scores


# mBLEU-1 to mBLEU-4: BLEU of each candidate with the other candidates of its image as references.
#
# Shetty et al. 2017 (mBLEU-4); Zhu et al. 2018 call it Self-BLEU. The official variant is `eval_div_stats` of
# self-critical.pytorch, the other variant `mBLEU` of DiversityMetrics (Wang and Chan 2019).

_K = 10  # statistics of BLEU


class MBleu(SetMetric):
    """mBLEU of order 1 to 4, each 0 to 1. It is a similarity: lower is more diverse.

    The score of an image is the mean of the sentence BLEU of its candidates. The official corpus score pools the first
    candidates of all images, the second candidates and so on, and is the mean of their corpus BLEU; all images must
    have the same number of candidates. With the variant "mean" it is the mean over images, and images may have
    different numbers of candidates; those with one have no score.

    Statistics: those of BLEU for each candidate of the image, k = 10 m with m candidates; for "mean" (k = 8) the scores
    of the image and whether it has them, 0 or 1.
    """

    name = "mbleu"
    outputs = ("mbleu-1", "mbleu-2", "mbleu-3", "mbleu-4")
    summary = "BLEU of each candidate against the others of its image"
    variants = {
        "official": "self-critical.pytorch: mean of the corpus BLEU of all first candidates, all second ones, ...",
        "mean": "DiversityMetrics: mean of the scores of images",
    }
    needs_references = False
    lower_is_better = frozenset(outputs)

    def statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        counts = sets.counts
        rows = bleu_statistics_within(sets.candidates.layer(NgramLayer(self.tokenizer)), threads())
        if self.variant == "official":
            if len(sets) and (counts[0] < 2 or (counts != counts[0]).any()):
                raise _different(sets)
            return rows.reshape(len(sets), _K * int(counts[0]) if len(sets) else 2 * _K)
        means = combine_references("mean", _BLEU.aggregate(rows), sets.candidates.offsets)
        return scored(np.where(counts[:, None] > 1, means, np.nan))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.variant == "official":
            slots = statistics.reshape(*statistics.shape[:-1], statistics.shape[-1] // _K, _K)
            return np.asarray(_BLEU.aggregate(slots).mean(axis=-2))
        return mean_of_scored(statistics)

    def warnings(self, sets: CaptionSets, state: State | None) -> Sequence[str]:
        single = int((sets.counts < 2).sum())
        return [f"{counted_of(single, len(sets), 'image', 'have')} only one candidate and no mbleu."] if single else []


_BLEU = Bleu()


def _different(sets: CaptionSets) -> ParameterError:
    """Return the error for images with different numbers of candidates, or with one."""
    counts = sets.counts
    first = int(counts[0])
    if (counts == first).all():
        return ParameterError(
            "mbleu compares the candidates of an image with each other, and every image has only one",
            where=sets.candidates.name,
            hint="give several candidates per image, or leave mbleu out",
        )
    row = int(np.flatnonzero(counts != first)[0])
    where = f"{image_list([sets.ids[0]])} has {first:,}, {image_list([sets.ids[row]])} has {int(counts[row]):,}"
    return ParameterError(
        "mbleu needs the same number of candidates, at least two, for all images",
        where=f"{sets.candidates.name}: {where}",
        hint="use mbleu@mean, which does not need that",
    )


# Novel: the share of candidates that are not among the training captions of the system.
#
# Papers on diversity report it as a percentage (Shetty et al. 2017; Wang and Chan 2019). `language_eval` of
# self-critical.pytorch divides the number of distinct novel captions by that of all captions, which is not a mean over
# images; a report of several candidates per image also includes that number (``captious.evaluation.report``).


@dataclass(frozen=True, eq=False)
class KnownCaptions:
    """Captions as word ids of a vocabulary.

    Args:
        vocabulary: their words.
        captions: the ids of each caption, int32, as bytes.
    """

    vocabulary: Vocabulary
    captions: frozenset[bytes]

    def has(self, tokens: Tokens) -> NDArray[np.bool_]:
        """Return whether each caption is one of them, bool[n_captions]."""
        shared = tokens.vocabulary is self.vocabulary
        ids = tokens.ids if shared else tokens.vocabulary.ids_in(self.vocabulary)[tokens.ids]  # -1: in none of them
        return np.fromiter((caption in self.captions for caption in _caption_bytes(ids, tokens.offsets)), bool)


def known_captions(training: References, tokenizer: Tokenizer) -> KnownCaptions:
    """Return the captions of a table; the same object for the same table and tokenizer."""
    return training.layer(_KnownLayer(tokenizer))


@dataclass(frozen=True)
class _KnownLayer:
    """Known captions as a layer of references, so that they are tokenized once."""

    tokenizer: Tokenizer

    def of_references(self, references: References) -> KnownCaptions:
        tokens: Tokens = references.layer(WordLayer(self.tokenizer))
        return KnownCaptions(tokens.vocabulary, frozenset(_caption_bytes(tokens.ids, tokens.offsets)))


def _caption_bytes(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[bytes]:
    raw = ids.astype(np.int32, copy=False).tobytes()
    return [raw[start:end] for start, end in pairwise((4 * offsets).tolist())]


def training_label(training: References) -> str:
    """Return the training captions in signatures: the file's name, number of captions and the start of a checksum."""
    import hashlib  # loads megabytes of OpenSSL

    digest = hashlib.sha256("\n".join(sorted(training.texts)).encode()).hexdigest()
    name = Path(training.name).name.partition(".")[0]
    return f"{name}-{len(training.texts)}-{digest[:8]}"


class Novel(MeanMetric):
    """1 for a caption that is not a training caption, 0 for one that is. The corpus score is the mean.

    Captions are equal if their tokens are.

    Raises:
        ParameterError: no training captions.
        InputError: training captions that cannot be read.
    """

    name = "novel"
    summary = "whether a caption is not among the training captions"
    variants = {"paper": "captions of equal tokens are the same"}
    needs_references = False

    training: ResourceParameter[References | str | os.PathLike[str] | None, References] = ResourceParameter(
        default=None,
        read=read_references,
        show=training_label,
        needs="the captions that the system was trained on",
        hint=f"give a file of captions: {setting('training', 'FILE')}",
        in_labels=False,
        summary="captions that the system was trained on: a file that references are read from",
    )

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        captions_of_training = known_captions(self.training, self.tokenizer)
        return (~captions_of_training.has(captions.layer(WordLayer(self.tokenizer))[0])).astype(np.float64)


# Self-CIDEr: the spread of an image's candidates, by their CIDEr with each other.
#
# Wang and Chan 2019 ("Describing like humans: on diversity in image captioning", CVPR). The official variant is
# `eval_self_cider` of self-critical.pytorch, which compares captions by CIDEr; the authors' own code, DiversityMetrics,
# compares them by CIDEr-D.

_SELF_CIDER_BATCH = 4_000_000  # similarities that are in memory at a time as matrices


class SelfCider(SetMeanMetric):
    """Self-CIDEr, 0 to 1, higher is more diverse. The corpus score is the mean over images.

    With the eigenvalues l of the matrix of similarities between the m candidates of an image, the score is
    -ln(max sqrt(l) / sum sqrt(l)) / ln m: 0 if all candidates are the same, 1 if no two share an n-gram. Images with
    one candidate, or without any n-gram that has a weight, have no score.

    Statistics (k = 2): the score or 0, and whether there is one.

    """

    name = "self-cider"
    summary = "spread of the CIDEr similarities between an image's candidates"
    variants = {
        "official": "self-critical.pytorch: CIDEr, negative eigenvalues taken as 0",
        "cider-d": "DiversityMetrics: CIDEr-D of each pair, the earlier caption as candidate; singular values",
    }
    needs_two = True

    tokenizer: TokenizerParameter = Cider.tokenizer
    idf: FrequenciesParameter = Cider.idf

    def setup(self) -> None:
        pair_metric = CiderD if self.variant == "cider-d" else Cider
        self._pairs = pair_metric(idf=self.idf, tokenizer=self.arguments.get("tokenizer"))
        self.tokenizer = self._pairs.tokenizer
        self.needs_fit = self._pairs.needs_fit
        self.needs_references = self.idf is None  # they are only counted

    def fit(self, references: References) -> DocumentFrequencies | None:
        return self._pairs.fit(references)

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        return self._pairs.fitted_parameters(state)

    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        check_candidates(self.name, sets)
        idf = state if isinstance(state, DocumentFrequencies) else self._pairs.frequencies(sets.references)
        similarities = sets.candidates.layer(self._pairs.weights(idf)).score_within(threads())
        counts = sets.counts
        first = np.concatenate([[0], np.cumsum(counts**2)])[:-1]
        scores = np.full(len(sets), np.nan)
        for m in np.unique(counts[counts > 1]).tolist():
            rows = np.flatnonzero(counts == m)
            step = max(1, _SELF_CIDER_BATCH // m**2)
            for part in (rows[at : at + step] for at in range(0, len(rows), step)):
                kernels = similarities[first[part, None] + np.arange(m * m)].reshape(-1, m, m)
                # The upper triangle: CIDEr-D is not symmetric, and the earlier caption is the candidate.
                values = np.linalg.eigvalsh(kernels, UPLO="U")
                values = np.abs(values) if self.variant == "cider-d" else np.maximum(values, 0.0)
                scores[part] = spread(np.sqrt(values), m)
        return scores

    def warnings(self, sets: CaptionSets, state: State | None) -> Sequence[str]:
        zero = "every similarity of two captions is 0"
        few = self._pairs.weight_warnings(sets.references, state, self.name, zero) if len(sets) else []
        return [*super().warnings(sets, state), *few]
