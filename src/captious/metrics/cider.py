"""CIDEr, CIDEr-D and CIDEr-R: cosine similarity of TF-IDF weighted n-grams with each reference."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import CaptionWarning, ParameterError, option, setting
from captious.metrics.contract.metric import MeanMetric, RowScores, State
from captious.metrics.contract.parameters import NumberParameter, TokenizerParameter
from captious.metrics.shared.frequencies import OWN_FREQUENCIES, DocumentFrequencies, FrequenciesParameter
from captious.metrics.shared.word_explanations import NgramWeights, WeightedNgram, ngrams, token_lists
from captious.native import CiderReferences, ReferenceNgrams, threads
from captious.text import NgramLayer, Tokenizer, Tokens, WordLayer, as_tokenizer
from captious.text.languages import main_language
from captious.words import shortened

# CIDEr. Vedantam, Zitnick and Parikh 2015; Chen et al. 2015 (COCO), equations 16 and 17.
#
# The score that the COCO toolkit calls CIDEr is CIDEr-D. The official variant here is the plain CIDEr of the authors'
# own code.

_FEW_IMAGES = 100
_LOOKED_AT = 200  # references, to know what they are about
_SOUNDS = re.compile(
    r"\b(?:sounds?|nois[ey]\w*|audio|hear(?:d|s)?|loud\w*|buzz\w*|humm?\w*|chirp\w*|beep\w*|rumbl\w*)\b", re.I
)
_OF_SOUNDS = 0.1  # share of references with such words; among those of COCO it is below .01
_SOUND_FILES = (".wav", ".mp3", ".flac", ".ogg", ".m4a")
_MOST = 0.75  # share of n-grams that weigh nothing, from which they are said to be most
_SAME_WORDS = np.empty(0, np.int32)  # a word map that translates nothing


class Cider(MeanMetric):
    """CIDEr, 0 to 10 (paper: 0 to 1), higher is better. The corpus score is the mean."""

    name = "cider"
    explanation = NgramWeights.kind
    fitted_resource = "document frequencies"
    bounds = (0.0, 10.0)
    summary = "cosine of TF-IDF weighted n-grams"
    variants = {
        "official": "the authors' code: times 10, no stemming",
        "paper": "not multiplied by 10",
    }

    tokenizer: TokenizerParameter = TokenizerParameter(
        default=None, summary="how captions become words; none for the tokenizer of idf, or ptb"
    )
    idf: FrequenciesParameter = FrequenciesParameter(default=None)

    def setup(self) -> None:
        self.needs_fit = self.idf is None
        counted_with = "ptb" if self.idf is None else self.idf.tokenizer
        if "tokenizer" not in self.arguments:
            self.tokenizer = as_tokenizer(counted_with)
        elif self.idf is not None and counted_with != (tokenizer := self.tokenizer.name):
            raise ParameterError(
                f"these document frequencies were counted with the tokenizer {counted_with}, not {tokenizer}",
                where=self.idf.label,
                hint=f"count them again with {setting('tokenizer', tokenizer)}, or score with "
                f"{setting('tokenizer', counted_with)}",
            )

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        if self.idf is not None:
            return {"idf": f"{self.idf.label}-{self.idf.checksum[:8]}"}
        return {"idf": state.label if state is not None else "references"}

    def fit(self, references: References) -> DocumentFrequencies | None:
        """Return the document frequencies of these references; None if the metric has frequencies of its own."""
        return self.frequencies(references) if self.idf is None else None

    def frequencies(self, references: References) -> DocumentFrequencies:
        """Return the document frequencies of the metric, or else those of these references."""
        return self.idf or DocumentFrequencies.of(references, self.tokenizer)

    def _used(self, references: References, state: State | None) -> DocumentFrequencies:
        """Return the document frequencies of the metric, or else those that were fitted, or those of references."""
        idf = self.idf or state or self.frequencies(references)
        assert isinstance(idf, DocumentFrequencies)
        return idf

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return self._similarity(captions, state, captions.layer(WordLayer(self.tokenizer))[0]) * self.scale

    def _similarity(self, captions: Captions, state: State | None, candidates: Tokens) -> NDArray[np.float64]:
        """Return the similarity of each candidate, 0 to 1, with the weighted references of the same number."""
        idf = self._used(captions.references, state)
        weighted = captions.references.layer(self.weights(idf))
        words: Tokens = captions.references.layer(WordLayer(self.tokenizer))
        # Words of candidates are numbered after those of their references, so these decide whether ids are the same.
        word_map = ids_in_frequencies(candidates, idf) if len(ids_in_frequencies(words, idf)) else _SAME_WORDS
        rows = np.arange(len(candidates.lengths))
        return weighted.score(candidates.ids, candidates.offsets, rows, word_map, threads())

    def row_scores(self, references: References, state: State | None) -> RowScores:
        idf = self._used(references, state)
        # Tokenized over the words of the frequencies, so that no id of a candidate needs translation.
        if self.idf is None:
            words: Tokens = references.layer(WordLayer(self.tokenizer))
            index: ReferenceNgrams = references.layer(NgramLayer(self.tokenizer))
        else:
            words = Tokens.of(references.texts, self.tokenizer, idf.vocabulary).split()
            index = ReferenceNgrams(words.ids, words.offsets, references.offsets, threads())
        weighted = self.weights(idf).of_index(index, _SAME_WORDS)

        def scores(rows: NDArray[np.int64], candidates: Sequence[str]) -> NDArray[np.float64]:
            ids, offsets = self.tokenizer.look_up_words(candidates, words.vocabulary)
            similarity = weighted.score(ids, offsets, rows, _SAME_WORDS, threads())
            return (similarity * self.scale).reshape(-1, 1)

        return scores

    def explain(
        self, candidate: str, references: Sequence[str], state: DocumentFrequencies | None = None
    ) -> NgramWeights:
        """Return the weight of each n-gram of a candidate and its share of the score; the shares sum to the score.

        Args:
            candidate, references: captions of one image.
            state: document frequencies returned by ``fit``, for a metric without its own.

        Raises:
            ParameterError: no document frequencies.
        """
        if (idf := self.idf or state) is None:
            raise ParameterError(
                f"{self.name} needs the document frequencies of many images",
                hint=f"give {setting('idf', 'coco')}, or a file of candidates and one of references with "
                f"{option('image', 'ID')}",
            )
        words, reference_tokens, captions = token_lists(candidate, references, self.tokenizer, split=True)
        scheme = self.weights(idf)
        sides = [[*ngrams(side)] for side in (words, *reference_tokens)]
        documents = _document_counts({ngram for side in sides for order in side for ngram in order}, idf)
        log_n = math.log(idf.n_documents)
        weight = {g: log_n - math.log(max(1, documents.get(g, 0))) for side in sides for order in side for g in order}

        def vector(counts: Counter[tuple[str, ...]]) -> dict[tuple[str, ...], float]:
            total = counts.total() if scheme.relative else 1
            return {ngram: n / total * weight[ngram] for ngram, n in counts.items()}

        candidate_vectors, *reference_vectors = ([vector(order) for order in side] for side in sides)
        adds = {ngram: 0.0 for order in candidate_vectors for ngram in order}
        for reference_words, vectors in zip(reference_tokens, reference_vectors, strict=True):
            factor = self.factor(words, reference_words)
            for mine, reference in zip(candidate_vectors, vectors, strict=True):
                norms = math.sqrt(sum(v * v for v in mine.values())) * math.sqrt(sum(v * v for v in reference.values()))
                for ngram in mine.keys() & reference.keys() if norms else ():
                    value = min(mine[ngram], reference[ngram]) if scheme.clip else mine[ngram]
                    adds[ngram] += value * reference[ngram] / norms * factor * self.scale / (4 * len(reference_tokens))
        weighted = [
            WeightedNgram(ngram, weight[ngram], sum(ngram in side[len(ngram) - 1] for side in sides[1:]), added)
            for ngram, added in adds.items()
        ]
        return NgramWeights(
            candidate=tuple(words),
            score=float(self.scores(captions, idf)[0]),
            orders=tuple(sum(g.adds for g in weighted if len(g.words) == n) for n in (1, 2, 3, 4)),
            ngrams=tuple(sorted(weighted, key=lambda g: (-g.adds, -g.weight, g.words))),
            n_references=len(reference_tokens),
            n_documents=idf.n_documents,
        )

    def factor(self, candidate: Sequence[str], reference: Sequence[str]) -> float:
        """Return the factor of the similarity of a candidate and a reference, from their words."""
        return 1.0

    @property
    def factor_parameters(self) -> Mapping[str, str | float]:
        """Kind of ``factor`` (none, length or repetition) and its parameters, for pages, which compute it."""
        return {"kind": "none"}

    def warnings(self, captions: Captions, state: State | None) -> Sequence[str]:
        return self.reference_warnings(captions.references, state)

    def reference_warnings(self, references: References, state: State | None) -> Sequence[str]:
        return self.weight_warnings(references, state, self.name, f"{self.name} is 0 for every caption")

    def weight_warnings(
        self, references: References, state: State | None, name: str, zero: str
    ) -> Sequence[CaptionWarning]:
        """Return the warnings about document frequencies of few images, or by which n-grams weigh nothing.

        Args:
            references: the references.
            state: what ``fit`` returned for them.
            name: the metric that uses the weights.
            zero: what follows if all weights are 0.
        """
        idf = self.idf or (state if isinstance(state, DocumentFrequencies) else None)
        n = len(references) if idf is None else idf.n_documents
        own = f"of a large corpus of your own ({OWN_FREQUENCIES})"
        coco = f"of COCO ({setting('idf', 'coco')}), or " if _is_like_coco(references) else ""
        other_metrics = f"Use other metrics, or the document frequencies {coco}{own}."
        if n > 1 and idf is not None and idf.weighs_nothing:
            alike = f"all {n:,} images have the same references, so every n-gram is in all of them and has the weight"
            return [CaptionWarning(f"{zero}: {alike} ln 1 = 0. {other_metrics}", "same-references")]
        if n >= _FEW_IMAGES:
            if idf is None or idf is self.idf or not (alike := self._without_weight(references, idf)):
                return []
            alike += f" in the references of all {n:,} images, so their weight in {name}"
            return [CaptionWarning(f"{alike} is ln 1 = 0. {other_metrics}", "same-references")]
        counted_in = "" if self.idf is None else f" in {self.idf.name}"
        one = f" With one image, every weight is ln 1 = 0: {zero}." if n == 1 else ""
        text = (
            f"{name} weights n-grams by their inverse document frequency over images, and there "
            f"{'is' if n == 1 else 'are'} only {n:,}{counted_in}: the score is unreliable and cannot be compared with "
            f"others.{one} Use the document frequencies {coco}{own}."
        )
        return [CaptionWarning(text, "few-documents")]

    def _without_weight(self, references: References, idf: DocumentFrequencies) -> str:
        """Say that a reference of the first image, or most n-grams of its references, are in all images; or nothing."""
        bounds = references.offsets.tolist()
        texts = references.texts[: bounds[1]]
        tokens = Tokens.of([*texts, *references.texts[bounds[-2] :]], self.tokenizer, idf.vocabulary)
        ids = tokens.ids.tolist()
        sides = [
            {(*part, -1, -1, -1)[:4] for order in ngrams(ids[start:end]) for part in order}
            for start, end in pairwise(tokens.offsets.tolist())
        ]
        firsts = sides[: len(texts)]
        of_first, of_last = set().union(*firsts), set().union(*sides[len(texts) :])
        may_weigh_nothing = any(side and side <= of_last for side in firsts)
        if not may_weigh_nothing and len(of_first & of_last) <= _MOST * len(of_first):
            return ""  # so that frequencies of large corpora are not searched
        entries, documents = idf.counts.entries()
        everywhere = {*map(tuple, entries[documents == idf.n_documents].tolist())}
        shared = next((text for text, side in zip(texts, firsts, strict=True) if side and side <= everywhere), None)
        if shared is not None:
            return f"all n-grams of {shortened(shared)} and of captions like it are"
        share = len(of_first & everywhere) / max(len(of_first), 1)
        return f"{share:.0%} of the n-grams of the first image are" if share > _MOST else ""

    @property
    def scale(self) -> float:
        return 1.0 if self.variant == "paper" else 10.0

    def weights(self, idf: DocumentFrequencies) -> WeightLayer:
        """Return the layer of weighted references."""
        return WeightLayer(self.tokenizer, idf)


@dataclass(frozen=True)
class WeightLayer:
    """References weighted for CIDEr, as a layer shared by systems scored against the same references.

    Args:
        tokenizer, idf: the tokenizer and document frequencies.
        sigma: width of the length penalty; infinite for none.
        clip: clip counts of n-grams of a candidate at those of the reference.
        relative: divide counts by the number of n-grams of a caption.
        length_in_words: measure lengths in words, not in bigrams.
        apart: weight each reference as if it were the only one of an image.
    """

    tokenizer: Tokenizer
    idf: DocumentFrequencies
    sigma: float = math.inf
    clip: bool = False
    relative: bool = False
    length_in_words: bool = False
    apart: bool = False

    def of_references(self, references: References) -> CiderReferences:
        words: Tokens = references.layer(WordLayer(self.tokenizer))
        if self.apart:
            index = ReferenceNgrams(words.ids, words.offsets, np.arange(len(words.offsets)), threads())
        else:
            index = references.layer(NgramLayer(self.tokenizer))
        return self.of_index(index, ids_in_frequencies(words, self.idf))

    def of_index(self, index: ReferenceNgrams, word_map: NDArray[np.int32]) -> CiderReferences:
        """Weight n-grams, whose word ids `word_map` translates to those of the frequencies."""
        return CiderReferences(
            index,
            self.idf.counts,
            word_map,
            math.log(self.idf.n_documents),
            sigma=self.sigma,
            clip=self.clip,
            relative=self.relative,
            length_in_words=self.length_in_words,
            threads=threads(),
        )


def _document_counts(distinct_ngrams: set[tuple[str, ...]], idf: DocumentFrequencies) -> dict[tuple[str, ...], int]:
    """Return the number of documents with each of these n-grams, without those in none."""
    words = sorted({word for ngram in distinct_ngrams for word in ngram})
    word_of = dict(zip(idf.vocabulary.find(tuple(words)).tolist(), words, strict=True))
    entries, documents = idf.counts.entries()
    numbers = [-1, *(number for number in word_of if number >= 0)]
    rows = np.flatnonzero(np.isin(entries[:, 0], numbers))
    rows = rows[np.isin(entries[rows, 1:], numbers).all(axis=1)]
    return {
        tuple(word_of[number] for number in entry if number >= 0): n
        for entry, n in zip(entries[rows].tolist(), documents[rows].tolist(), strict=True)
    }


def ids_in_frequencies(tokens: Tokens, idf: DocumentFrequencies) -> NDArray[np.int32]:
    """Return, for each word of the tokens' vocabulary, its id in that of the frequencies; empty if identical."""
    if tokens.vocabulary is idf.vocabulary:
        return _SAME_WORDS
    return tokens.vocabulary.ids_in(idf.vocabulary)


# CIDEr-D: CIDEr made robust against gaming, by clipping and a Gaussian penalty on length differences.
#
# Vedantam, Zitnick and Parikh 2015, section 7; Chen et al. 2015 (COCO). The official variant is the COCO
# caption toolkit, which reports it as "CIDEr".


class CiderD(Cider):
    """CIDEr-D, 0 to 10, higher is better. The corpus score is the mean."""

    name = "cider-d"
    summary = "CIDEr with clipped weights and a length penalty; the COCO toolkit's CIDEr"
    variants = {
        "official": "COCO toolkit: raw counts are clipped, lengths are counted in bigrams",
        "paper": "counts relative to the caption's n-grams are clipped, lengths are counted in words",
    }

    sigma: NumberParameter[float] = NumberParameter(
        default=6.0, least=0.001, summary="width of the length penalty, in words"
    )

    @property
    def scale(self) -> float:
        return 10.0

    def factor(self, candidate: Sequence[str], reference: Sequence[str]) -> float:
        lengths = len(candidate), len(reference)
        a, b = lengths if self.variant == "paper" else (max(length - 1, 0) for length in lengths)
        return math.exp(-((a - b) ** 2) / (2 * self.sigma**2))

    @property
    def factor_parameters(self) -> Mapping[str, str | float]:
        return {"kind": "length", "sigma": self.sigma, "in_words": self.variant == "paper"}

    def weights(self, idf: DocumentFrequencies) -> WeightLayer:
        paper = self.variant == "paper"
        return WeightLayer(self.tokenizer, idf, sigma=self.sigma, clip=True, relative=paper, length_in_words=paper)


# CIDEr-R: CIDEr-D for captions of very different lengths, with a penalty on relative length and on repeated words.
#
# Santos, Colombini and Avila 2021. The official variant is the code of its authors, a fork of the COCO caption toolkit.

#: The weights of repetition and length, exponents of a weighted geometric mean.
_REPETITION, _LENGTH = 0.8, 0.2
_WORDS = re.compile(r"\w+")


class CiderR(Cider):
    """CIDEr-R, 0 to 10, higher is better. The corpus score is the mean."""

    name = "cider-r"
    summary = "CIDEr-D with penalties on repeated words and relative length, for captions of different lengths"
    variants = {"official": "the authors' code"}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(WordLayer(self.tokenizer))
        numbers = np.diff(captions.references.offsets)
        of_pair = np.repeat(np.arange(len(captions)), numbers)
        similarity = self._similarity(captions, state, candidates.take(of_pair))
        penalty = _length_penalty(candidates.lengths[of_pair], references.lengths) ** _LENGTH
        penalty *= _repetition_penalty(candidates, references, of_pair) ** _REPETITION
        means: NDArray[np.float64] = np.bincount(of_pair, similarity * penalty, len(captions)) / numbers
        return means * self.scale

    row_scores = MeanMetric.row_scores

    def factor(self, candidate: Sequence[str], reference: Sequence[str]) -> float:
        lengths = (np.array([len(side)], np.int64) for side in (candidate, reference))
        counts = [Counter(_WORDS.findall(" ".join(side))) for side in (candidate, reference)]
        return float(_length_penalty(*lengths)[0] ** _LENGTH * _repetition(*counts) ** _REPETITION)

    @property
    def factor_parameters(self) -> Mapping[str, str | float]:
        return {"kind": "repetition", "repetition": _REPETITION, "length": _LENGTH}

    def weights(self, idf: DocumentFrequencies) -> WeightLayer:
        return WeightLayer(self.tokenizer, idf, clip=True, apart=True)


def _length_penalty(candidate: NDArray[np.int64], reference: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 for equal lengths, and less the more they differ relative to the reference, in bigrams plus 1."""
    c, r = np.maximum(candidate, 1), np.maximum(reference, 1)
    return np.exp(-(((c - r) / r) ** 2))


def _repetition_penalty(candidates: Tokens, references: Tokens, of_pair: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the penalty of each pair of a candidate and a reference."""
    pieces = [_WORDS.findall(word) for word in candidates.vocabulary.words()]
    counts_of_candidates = _counts(candidates, pieces)
    penalties = np.empty(len(of_pair))
    for pair, (row, in_reference) in enumerate(zip(of_pair.tolist(), _counts(references, pieces), strict=True)):
        penalties[pair] = _repetition(counts_of_candidates[row], in_reference)
    return penalties


def _repetition(counts: Counter[str], in_reference: Counter[str]) -> float:
    """Return 1 if each word of the candidate is as frequent in the reference, or occurs once and only in the candidate;
    0 without words.
    """
    product = 1
    for word, count in counts.items():
        # Over integers, which is exact: the geometric mean is taken at the end.
        product *= 1 + (abs(in_reference[word] - count) if word in in_reference else count - 1)
    return math.exp(-math.log(product) / len(counts)) if counts else 0.0


def _counts(tokens: Tokens, pieces: Sequence[Sequence[str]]) -> list[Counter[str]]:
    """Return counts of words in each caption; a token may be several words."""
    ids = tokens.ids.tolist()
    bounds = tokens.offsets.tolist()
    return [Counter(word for token in ids[a:b] for word in pieces[token]) for a, b in pairwise(bounds)]


def _is_like_coco(references: References) -> bool:
    """Return whether references are English captions of what is seen, as those of COCO are."""
    texts = references.texts[:_LOOKED_AT]
    n_of_sounds = sum(_SOUNDS.search(text) is not None for text in texts)
    if references.of == "sound" or any(str(image).lower().endswith(_SOUND_FILES) for image in references.ids):
        return False
    return main_language(texts) in ("en", "") and n_of_sounds < _OF_SOUNDS * len(texts)
