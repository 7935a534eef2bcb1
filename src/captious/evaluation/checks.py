"""Properties of captions that make scores misleading, counted once per run; and the warnings about them.

Findings of parts can be added, so shards of a corpus yield those of the whole.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, References, checks
from captious.data.checks import is_cut_off, is_empty, is_in_another_script, is_markdown, is_prompt_answer
from captious.errors import CaptionWarning, CaptiousWarning, option, shown
from captious.text import PTB
from captious.text.sentences import LONG_SENTENCE
from captious.text.tokens import TokenLayer, Tokens
from captious.words import counted_of

# Findings about captions.

#: The tokens of metrics that are made for English.
ENGLISH = frozenset(("ptb", "ptb-harness", "ptb-raw", "smurf", "nltk", "treebank"))

_EXAMPLES = 3
_SAMPLE = 2000  # references that are looked at, to know what is usual
_MIN_SHARE = 0.01  # share of candidates below which a kind is not worth a warning
_WORDS_MORE = 8  # than references, in a caption that is long
_WORDS_LESS = 4  # in one that is short
_MIN_NUMBER = 3  # candidates below which a kind may be chance
_RATIO = 2.0  # as often as in references, or as long
_FAMILIAR = 0.34  # share of words that some reference has, below which a caption is in another language
_MIN_REFERENCES = 50  # references from which a vocabulary can be known
_MIN_WORDS = 4  # words that a caption needs before its language is checked


@dataclass(frozen=True)
class FindingKind:
    """A kind of finding.

    Args:
        predicate: the rest of the sentence "12 of 100 candidates ...", from its verb, in the plural.
        advice: the effect on scores, and a remedy.
        option: name and value of an option to append to the advice.
        always: report it however rare it is.
        needs_references: it is detected by comparison with references.
        of_tokens: it only matters to tokenizers for English, whatever the references.
        before_scoring: only ``check`` reports it; the metrics concerned issue their own warnings.
    """

    predicate: str
    advice: str
    always: bool = False
    needs_references: bool = False
    of_tokens: bool = False
    before_scoring: bool = False
    option: tuple[str, str] | None = None


#: All kinds, by name, in the order of messages.
KINDS = {
    "empty": FindingKind("are empty", "most metrics give them 0: was the output of the captioner lost?", always=True),
    "copy": FindingKind(
        "repeat a reference of the image",
        "are the candidates included in their own references?",
        needs_references=True,
    ),
    "markdown": FindingKind(
        "hold Markdown",
        "metrics take its marks for words, and lists for one sentence: remove it with",
        option=("clean", "markdown"),
    ),
    "prompt": FindingKind(
        'begin like the answer to a prompt, such as "The image shows"',
        "where references do not, every word of it counts against precision: remove it with",
        option=("clean", "prompt"),
    ),
    "sentences": FindingKind(
        "have several sentences",
        "where references have one, CIDEr-D and BLEU then mostly measure length: look at precision and recall, such as "
        "those of spice",
    ),
    "long": FindingKind(
        "are more than twice as long as the references of the image",
        "CIDEr-D and BLEU then mostly measure length: ask the captioner for the length of the references, or look at "
        "precision and recall",
        needs_references=True,
    ),
    "short": FindingKind(
        "are less than half as long as the references of the image",
        "CIDEr-D and BLEU then mostly measure length, and METEOR and SPICE recall",
        needs_references=True,
    ),
    "script": FindingKind(
        "are mostly not in the Latin script",
        "the tokenizers of most metrics are made for English, so that these scores mean little: choose a tokenizer for "
        "the language, such as zh for Chinese, char for Chinese, Japanese and Thai, or unicode where words are written "
        "apart",
        of_tokens=True,
    ),
    "language": FindingKind(
        "share almost no words with any reference",
        "are they in another language than the references?",
        needs_references=True,
    ),
    "repetition": FindingKind("repeat the same words three times or more in a row", "did the captioner get stuck?"),
    "cut": FindingKind("end within a sentence", "was the number of new tokens of the captioner too small?"),
    "parse": FindingKind(
        f"have more than {LONG_SENTENCE} words",
        "SPICE, SPIDEr and HWCM parse each as one sentence, which takes up to three seconds a hundred words: use "
        "spice:split=sentences",
        before_scoring=True,
    ),
}


@dataclass(frozen=True)
class Finding:
    """A property shared by some candidates.

    Args:
        kind: one of ``KINDS``.
        n: number of these candidates.
        of: number of all candidates.
        examples: the first few image ids.
    """

    kind: str
    n: int
    of: int
    examples: tuple[str, ...]

    @property
    def sentence(self) -> CaptionWarning:
        """The problem and the remedy, in one sentence."""
        ids = ", ".join(self.examples) + (", ..." if self.n > len(self.examples) else "")
        return self._worded(f" (image_id {ids})")

    @property
    def sentence_without_ids(self) -> CaptionWarning:
        """The sentence with the number of candidates only."""
        return self._worded()

    @property
    def sentence_without_numbers(self) -> CaptionWarning:
        """The sentence without the number of candidates and their ids."""
        return CaptionWarning(f"Some candidates {KINDS[self.kind].predicate}{self._advice}", self.kind)

    def _worded(self, where: str = "") -> CaptionWarning:
        verb, rest = KINDS[self.kind].predicate.split(" ", 1)
        counts = counted_of(self.n, self.of, "candidate", verb)
        return CaptionWarning(f"{counts} {rest}{where}{self._advice}", self.kind)

    @property
    def _advice(self) -> str:
        kind = KINDS[self.kind]
        end = "" if kind.advice.endswith("?") else "."
        advice = kind.advice if kind.option is None else f"{kind.advice} {option(*kind.option)}"
        return f": {advice}{end}"


@dataclass(frozen=True)
class CaptionFindings:
    """Counts of properties of captions.

    Args:
        n: number of candidates.
        references: number of their references.
        most_references: maximum number of references of an image.
        words: total words of the candidates, and of the references, averaged by image.
        candidates: kind -> number of candidates, and the first few of their image ids.
        reference_counts: kind -> number of references among those checked.
        n_looked_at: number of references checked.
    """

    n: int = 0
    references: int = 0
    most_references: int = 0
    words: tuple[float, float] = (0.0, 0.0)
    candidates: Mapping[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    reference_counts: Mapping[str, int] = field(default_factory=dict)
    n_looked_at: int = 0

    @classmethod
    def of(cls, captions: Captions | CaptionSets) -> CaptionFindings:
        """Check captions and, if present, their references."""
        references = captions.references
        if isinstance(captions, CaptionSets):
            texts, rows = captions.candidates.texts, np.repeat(np.arange(len(captions)), captions.counts)
        else:
            texts, rows = captions.candidates, np.arange(len(captions))
        masks = _masks_of_texts(texts)
        reference_tokens = references.layer(TokenLayer(PTB))
        if isinstance(captions, CaptionSets):
            tokens = Tokens.of(texts, PTB, reference_tokens.vocabulary)
        else:
            tokens, _ = captions.layer(TokenLayer(PTB))
        reference_words = (
            _mean_lengths(reference_tokens, references)[rows] if references.present else np.zeros(len(texts))
        )
        masks["repetition"] = checks.repeats_itself(tokens.ids, tokens.offsets)
        masks["cut"] = is_cut_off(texts, tokens.lengths)
        masks["parse"] = tokens.lengths > LONG_SENTENCE
        if references.present:
            masks |= _masks_beside(texts, rows, tokens, references, len(reference_tokens.vocabulary), reference_words)
        for kind in ("markdown", "prompt", "sentences", "long", "short", "script", "language", "cut"):
            masks[kind] = masks.get(kind, np.zeros(len(texts), bool)) & ~masks["empty"]
        for kind in ("language", "short"):  # words of other scripts are not separated as PTB expects
            masks[kind] &= ~masks["script"]
        ids = captions.ids
        reference_texts = references.texts if references.present else ()
        return cls(
            len(texts),
            len(reference_texts),
            int(np.diff(references.offsets).max(initial=0)) if references.present else 0,
            (float(tokens.lengths.sum()), float(reference_words.sum())),
            {
                kind: (int(mask.sum()), tuple(str(ids[rows[i]]) for i in np.flatnonzero(mask)[:_EXAMPLES]))
                for kind, mask in masks.items()
                if mask.any()
            },
            {kind: int(mask.sum()) for kind, mask in _masks_of_texts(reference_texts[:_SAMPLE]).items()},
            len(reference_texts[:_SAMPLE]),
        )

    def __add__(self, other: CaptionFindings) -> CaptionFindings:
        zero: tuple[int, tuple[str, ...]] = (0, ())
        pairs = {
            kind: (self.candidates.get(kind, zero), other.candidates.get(kind, zero))
            for kind in [*dict.fromkeys([*self.candidates, *other.candidates])]
        }
        return CaptionFindings(
            self.n + other.n,
            self.references + other.references,
            max(self.most_references, other.most_references),
            (self.words[0] + other.words[0], self.words[1] + other.words[1]),
            {kind: (a[0] + b[0], (*a[1], *b[1])[:_EXAMPLES]) for kind, (a, b) in pairs.items()},
            {
                kind: self.reference_counts.get(kind, 0) + other.reference_counts.get(kind, 0)
                for kind in {*self.reference_counts, *other.reference_counts}
            },
            self.n_looked_at + other.n_looked_at,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CaptionFindings:
        """Restore from the values of ``to_dict``."""
        words, reference_words = document["words"]
        return cls(
            int(document["n"]),
            int(document["references"]),
            int(document["most_references"]),
            (float(words), float(reference_words)),
            {str(kind): (int(n), tuple(map(str, ids))) for kind, (n, ids) in document["candidates"].items()},
            {str(kind): int(n) for kind, n in document["reference_counts"].items()},
            int(document["n_looked_at"]),
        )

    @property
    def findings(self) -> list[Finding]:
        """Findings that deserve a warning: too frequent to be chance, and unusual in references."""
        findings = []
        for kind, properties in KINDS.items():
            n, examples = self.candidates.get(kind, (0, ()))
            share = self.reference_counts.get(kind, 0) / max(self.n_looked_at, 1)
            least = 1 if properties.always else max(_MIN_SHARES.get(kind, _MIN_SHARE) * self.n, _MIN_NUMBER)
            if n and n >= least and (properties.of_tokens or n > _RATIO * share * self.n):
                findings.append(Finding(kind, n, self.n, examples))
        return findings

    @property
    def without_references(self) -> CaptionFindings:
        """Findings about candidates by themselves, without references."""
        candidates = {kind: counted for kind, counted in self.candidates.items() if not KINDS[kind].needs_references}
        return replace(self, candidates=candidates, reference_counts={}, n_looked_at=0)

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about the captions, one sentence each."""
        return self.few_references + [finding.sentence for finding in self.findings]

    @property
    def few_references(self) -> list[CaptionWarning]:
        """The warning that every image has only one reference."""
        if self.most_references != 1 or self.n <= 1:
            return []
        return [
            CaptionWarning(
                "every image has only one reference: caption metrics expect about five, and scores with one cannot be "
                "compared with published ones.",
                "one-reference",
            )
        ]

    def findings_for(self, tokens: Iterable[str]) -> list[Finding]:
        """Return the findings that matter to metrics with these ``tokens``; combined metrics join theirs by commas."""
        is_english = not ENGLISH.isdisjoint(name for names in tokens for name in names.split(", "))
        return [
            finding
            for finding in self.findings
            if (is_english or not KINDS[finding.kind].of_tokens) and not KINDS[finding.kind].before_scoring
        ]

    def warnings_for(self, tokens: Iterable[str]) -> list[CaptionWarning]:
        """Return the warnings that matter to metrics with these tokens."""
        return self.few_references + [finding.sentence for finding in self.findings_for(tokens)]

    @property
    def warnings_without_references(self) -> list[CaptionWarning]:
        """The warnings that matter to metrics without references."""
        kinds = ("empty", "markdown", "prompt", "repetition", "cut")
        return [finding.sentence for finding in self.findings if finding.kind in kinds]


#: Shares below which a kind is not worth a warning, where that is not ``_MIN_SHARE``.
_MIN_SHARES = {"copy": 0.1, "long": 0.25, "short": 0.25, "sentences": 0.1, "language": 0.05}


def _masks_of_texts(texts: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return masks for the kinds that are detected in a text alone."""
    return {
        "empty": is_empty(texts),
        "markdown": is_markdown(texts),
        "prompt": is_prompt_answer(texts),
        "sentences": checks.several_sentences(texts),
        "script": is_in_another_script(texts),
    }


def _masks_beside(
    texts: Sequence[str],
    rows: NDArray[np.int64],
    tokens: Tokens,
    references: References,
    n_words_of_references: int,
    reference_words: NDArray[np.float64],
) -> dict[str, NDArray[np.bool_]]:
    """Return masks for the kinds detected by comparison with references; ``rows`` are the images of the texts."""
    offsets = references.offsets.tolist()
    copies = [
        text in references.texts[offsets[row] : offsets[row + 1]]
        for row, text in zip(rows.tolist(), texts, strict=True)
    ]
    n_words = tokens.lengths
    n_known_before = np.concatenate([[0], np.cumsum(tokens.ids < n_words_of_references)])
    n_known = n_known_before[tokens.offsets[1:]] - n_known_before[tokens.offsets[:-1]]
    return {
        "copy": np.array(copies, bool),
        "long": n_words > np.maximum(_RATIO * reference_words, reference_words + _WORDS_MORE),
        "short": n_words < np.minimum(reference_words / _RATIO, reference_words - _WORDS_LESS),
        "language": (n_known < _FAMILIAR * n_words)
        & (n_words >= _MIN_WORDS)
        & (len(references.texts) >= _MIN_REFERENCES),
    }


def _mean_lengths(tokens: Tokens, references: References) -> NDArray[np.float64]:
    """Return the mean number of words in the references of each image, float64[n_images]."""
    counts = np.diff(references.offsets)
    words = np.diff(tokens.offsets[references.offsets])
    return np.asarray(words / np.maximum(counts, 1))


# Warnings about small numbers of images and references, warnings of several systems, and their issue.

#: Sentences that were issued in this process.
issued: set[str] = set()
#: Fewer images than these are too few for intervals and tests.
FEW_IMAGES = 10


def issue(sentences: Iterable[str]) -> None:
    """Issue warnings, attributed to the caller of captious, each wording once per process.

    Python's own filters would repeat them in every cell of a notebook.
    """
    for sentence in sentences:
        if sentence not in issued:
            issued.add(sentence)
            warnings.warn(shown(sentence), CaptiousWarning, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """Return the number of frames up to the first that is not of this package, as ``warnings.warn`` counts them."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "captious":
        frame, level = frame.f_back, level + 1
    return level


def warnings_by_system(warnings: Sequence[tuple[str, Sequence[CaptionWarning]]]) -> list[CaptionWarning]:
    """Return the warnings of systems, each once; those of only some systems begin with the names of these.

    Args:
        warnings: name and warnings of each system.
    """
    systems: dict[CaptionWarning, list[str]] = {}
    for system, sentences in warnings:
        for sentence in dict.fromkeys(sentences):
            systems.setdefault(sentence, []).append(system)
    return [
        sentence if len(names) == len(warnings) else sentence.of(", ".join(names))
        for sentence, names in systems.items()
    ]


def few_images_warning(n: int) -> list[CaptionWarning]:
    """Return a warning if n images are too few for intervals and tests."""
    if n >= FEW_IMAGES:
        return []
    return [
        CaptionWarning(
            f"too few images for intervals and tests ({n}): resamples of so few images vary little, so intervals are "
            "too narrow and p values too small.",
            "few-images",
        )
    ]


def single_reference_warning(references: References) -> list[CaptionWarning]:
    """Return a warning if every image has only one reference."""
    if len(references.texts) != len(references):
        return []
    sentence = "every image has only one caption: are these references, or the candidates of a system?"
    return [CaptionWarning(sentence, "one-reference")]
