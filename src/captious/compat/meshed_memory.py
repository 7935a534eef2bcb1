"""The package ``evaluation`` of the meshed-memory transformer's code, which many captioning repositories include.

    from evaluation import PTBTokenizer, Cider
    cider_train = Cider(PTBTokenizer.tokenize(ref_caps_train))
    reward = cider_train.compute_score(caps_gt, caps_gen)[1]

``captious.compat.install("evaluation")`` redirects that name here. The tokenizer starts no process, so a training loop
can call it for every batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from captious.compat import pycocoevalcap
from captious.compat.counted import Ngram
from captious.compat.pycocoevalcap import bleu_scorer, cider_scorer, inputs
from captious.compat.pycocoevalcap.inputs import Texts, captions_by_image, references_table
from captious.compat.pycocoevalcap.scorers import my_lcs
from captious.compat.reexports import add_modules, by_name
from captious.errors import CaptionTypeError
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import WHITESPACE
from captious.words import shortened

__all__ = ["Bleu", "Cider", "CiderScorer", "Meteor", "PTBTokenizer", "Rouge", "compute_scores"]


# The scorers, under their original names.


class Bleu(pycocoevalcap.Bleu):
    """BLEU of order 1 to n, without printing.

    Args:
        n: 1 to 4.
    """

    def compute_score(self, gts: Texts, res: Texts, verbose: int = 0) -> tuple[list[float], list[list[float]]]:
        """Score as in ``captious.compat.pycocoevalcap``."""
        return super().compute_score(gts, res, verbose)

    def __str__(self) -> str:
        return "BLEU"


class Meteor(pycocoevalcap.Meteor):
    """METEOR 1.5, as in ``captious.compat.pycocoevalcap``; nothing is downloaded."""

    def __str__(self) -> str:
        return "METEOR"


class Rouge(pycocoevalcap.Rouge):
    """ROUGE-L, as in ``captious.compat.pycocoevalcap``."""

    def __str__(self) -> str:
        return "ROUGE"


class Cider(pycocoevalcap.Cider):
    """CIDEr-D, 0 to 10, with document frequencies counted once or for every call.

    Objects can be pickled, and pickles of the original code can be read.

    Args:
        gts: tokenized references by image, for document frequencies; None to count those of each call.
        n: 4.
        sigma: width of the length penalty, in words.

    Attributes:
        doc_frequency: n-gram -> number of images with it in their references; None without ``gts``.
        ref_len: logarithm of the number of images; None without ``gts``.

    Raises:
        InputError: invalid captions; the error names the image.
        ParameterError: another n.
    """

    def __init__(self, gts: Texts | None = None, n: int = 4, sigma: float = 6.0) -> None:
        super().__init__(n=n, sigma=sigma)
        if gts is not None:
            self._idf = DocumentFrequencies.of(references_table(gts), WHITESPACE)

    @property
    def doc_frequency(self) -> Mapping[Ngram, float] | None:
        """See the class; a new dictionary for every call."""
        return None if self._idf is None else {ngram: float(n) for ngram, n in self._idf.by_ngram().items()}

    @property
    def ref_len(self) -> np.float64 | None:
        """See the class."""
        return None if self._idf is None else np.log(np.float64(self._idf.n_documents))

    def __str__(self) -> str:
        return "CIDEr"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "doc_frequency" in state:  # a state of the original code
            counts, log_documents = self.__dict__.pop("doc_frequency"), self.__dict__.pop("ref_len")
            self._idf = None
            if counts is not None:
                whole = {ngram: int(count) for ngram, count in counts.items() if count}
                self._idf = DocumentFrequencies.of_counts(whole, round(float(np.exp(log_documents))), WHITESPACE)


class CiderScorer(cider_scorer.CountedCaptions):
    """CIDEr-D of tokenized captions.

    Args:
        refs: image id -> list of references.
        test: image id -> list of one candidate; None to count documents only.
        n: highest order of n-grams.
        sigma: width of the length penalty.
        doc_frequency: n-gram -> number of images; None to count those of ``refs``.
        ref_len: logarithm of the number of images.

    Attributes:
        doc_frequency, ref_len: passed or counted.
    """

    df_mode = "given"

    def __init__(
        self,
        refs: Texts,
        test: Texts | None = None,
        n: int = 4,
        sigma: float = 6.0,
        doc_frequency: Mapping[Ngram, float] | None = None,
        ref_len: float | None = None,
    ) -> None:
        super().__init__(n, sigma)
        for image, references in captions_by_image(refs, "refs").items():
            self.cook_append(None if test is None else test[image][0], references)
        if doc_frequency is None and ref_len is None:
            self.compute_doc_freq()
            self.ref_len = np.log(float(self.size()))
        else:
            self.document_frequency, self.ref_len = doc_frequency or {}, ref_len

    @property
    def doc_frequency(self) -> Mapping[Ngram, float]:
        """See the class."""
        return self.document_frequency


# The PTB tokenizer under the name ``evaluation.tokenizer.PTBTokenizer``.


class PTBTokenizer:
    """Penn Treebank tokens, as in ``captious.compat.pycocoevalcap``, as a class method."""

    punctuations = inputs.PUNCTUATIONS
    eos_token = "<eos>"

    @classmethod
    def tokenize(
        cls, corpus: Sequence[str] | Sequence[Sequence[str]] | Mapping[Any, Sequence[str]], add_eos: bool = False
    ) -> dict[Any, list[str]]:
        """Tokenize captions.

        Args:
            corpus: a list of captions, or of lists of captions, or a mapping from ids to lists of captions.
            add_eos: append ``eos_token`` to every caption, as in a fork.

        Returns:
            id, or position in the list -> list of tokenized captions. Empty if there are no captions.

        Raises:
            CaptionTypeError, EncodingError: a value that is not a caption; the error names its id.
        """
        if isinstance(corpus, str) or not isinstance(corpus, Mapping | Sequence):
            raise CaptionTypeError("captions are neither in a list nor in a dictionary", where=f"{shortened(corpus)}")
        groups = corpus if isinstance(corpus, Mapping) else dict(enumerate(corpus))
        raw = {key: _annotations(key, group) for key, group in groups.items()}
        tokenized = inputs.PTBTokenizer().tokenize(raw)
        if not add_eos:
            return tokenized
        return {key: [f"{text} {cls.eos_token}" for text in texts] for key, texts in tokenized.items()}


def _annotations(key: Any, group: Any) -> list[dict[str, Any]]:
    """Return a caption or a list of captions as input of the toolkit's tokenizer."""
    if not isinstance(group, str | list | tuple):
        raise CaptionTypeError("captions are neither text nor in a list", where=f"{key!r}: {shortened(group)}")
    return [{"caption": text} for text in ([group] if isinstance(group, str) else group)]


# All scorers at once.


def compute_scores(gts: Texts, gen: Texts) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute BLEU, METEOR, ROUGE and CIDEr of tokenized captions.

    Args:
        gts: image id -> list of references.
        gen: image id -> list of one candidate.

    Returns:
        Name of metric -> corpus score, which is a list of four for BLEU; and name of metric -> scores of images.

    Raises:
        InputError: invalid captions; the error names the image.
        MissingExtraError: METEOR's tables are not installed.
    """
    results = {str(metric): metric.compute_score(gts, gen) for metric in (Bleu(), Meteor(), Rouge(), Cider())}
    corpus = {name: score for name, (score, _) in results.items()}
    return corpus, {name: scores for name, (_, scores) in results.items()}


add_modules(
    __name__,
    {
        "bleu.bleu": by_name(Bleu),
        "bleu.bleu_scorer": by_name(bleu_scorer.BleuScorer, *bleu_scorer.COOKING),
        "cider.cider": by_name(Cider),
        "cider.cider_scorer": by_name(CiderScorer, *cider_scorer.COOKING),
        "meteor.meteor": by_name(Meteor),
        "rouge.rouge": by_name(Rouge, my_lcs),
        "tokenizer": by_name(PTBTokenizer),
    },
)
