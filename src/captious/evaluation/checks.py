"""Properties of captions that make scores misleading, counted once per run; and the warnings about them.

Findings of parts can be added, so shards of a corpus yield those of the whole.
"""

from __future__ import annotations

import inspect
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import islice, pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, References, checks
from captious.data.checks import TEXT_KINDS, Kind, is_cut_off, is_in_another_script, kinds_in
from captious.data.cleaning import OF_BOTH_SIDES
from captious.errors import CaptionWarning, CaptiousWarning, marked, option, setting, shown
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.selection import Selection
from captious.text import PTB
from captious.text.languages import (
    LANGUAGES,
    WITHOUT_SPACES,
    Language,
    function_words,
    language_of,
    main_language,
    related,
)
from captious.text.sentences import LONG_SENTENCE
from captious.text.tokens import TokenLayer, Tokens
from captious.words import counted_of, listed

# Kinds of findings about captions.

#: References from which a vocabulary can be known.
MIN_REFERENCES = 50
#: The tokens of metrics that are made for English.
ENGLISH = frozenset(("ptb", "ptb-harness", "ptb-raw", "smurf", "nltk", "treebank"))

_EXAMPLES = 3
_SAMPLE = 2000  # references that are looked at, to know what is usual
_OF_LANGUAGE = 100  # captions that are looked at, to know their language
_WORDS_MORE = 8  # than references, in a caption that is long
_WORDS_LESS = 4  # in one that is short
_MIN_NUMBER = 3  # candidates below which a kind may be chance
_RATIO = 2.0  # as often as in references, or as long
_FAMILIAR = 0.34  # share of words that some reference has, below which a caption is about something else
_MIN_WORDS = 4  # words that a caption needs before they are compared, or its end looked at
_SURELY_ENGLISH = 0.2  # share of English function words above which no other language is looked for
_MANY_TIMES = 3.0  # as long as references: captions of which CIDEr-D and BLEU mostly measure length
#: Metrics that depend on length, by the beginning of their names.
_OF_LENGTH = ("cider", "bleu", "spider", "nkrimp")
#: Words after which a caption is not at its end.
_DANGLING = ("a", "an", "the", "of", "with", "and", "his", "their", "its")


#: All kinds, by name, in the order of messages.
KINDS = {
    **checks.KINDS,
    "parse": Kind(
        f"have more than {LONG_SENTENCE} words",
        "SPICE, SPIDEr and HWCM parse each as one sentence, which takes up to three seconds for a hundred words: use "
        "spice:split=sentences",
        least=0.01,
        before_scoring=True,
    ),
}
#: Kinds in which the end of a text is of interest.
_AT_END = frozenset(("cut",))
#: Kinds that a part of the text shows.
_SHOWN = frozenset((*TEXT_KINDS, "script", "foreign", "language", "vocabulary", "repetition", "cut"))
#: Kinds that references are looked at for, whatever candidates are.
DEBRIS = ("empty", *(name for name in TEXT_KINDS if name not in ("prompt", "quotes")))
_LEAST_OF_REFERENCES = 0.01  # share of references below which debris is chance
#: Kinds that are not counted where a text is of another kind, which explains them.
_HIDDEN = {
    ("sentences", "long", "short", "script", "foreign", "language", "vocabulary", "repetition", "cut"): (
        *("empty", "failure", "refusal", "name", "think", "json", "pieces", "tokens"),
    ),
    ("prompt", "quotes"): ("failure", "refusal", "json"),
    ("markdown",): ("json",),
}
_NONE_NAMED = "metrics made for English"


@dataclass(frozen=True)
class Finding:
    """A property shared by some candidates.

    Args:
        kind: one of ``KINDS``.
        n: number of these candidates.
        of: number of all candidates.
        examples: the first few image ids.
        text: what one of them says, cut; empty if that shows nothing.
        language: the language of most of them, for ``script``, ``foreign`` and ``language``; empty if it is not known.
        metrics: what the advice says about metrics; empty for those of COCO's evaluation.
        english: metrics that are made for English, whatever the language that is named.
        side: "candidate", or "reference" for a finding about the references.
        ids: what the ids are of, in messages.
    """

    kind: str
    n: int
    of: int
    examples: tuple[str, ...]
    text: str = ""
    language: str = ""
    metrics: tuple[str, ...] = ()
    english: tuple[str, ...] = ()
    side: str = "candidate"
    ids: str = "image_id"

    @property
    def rule(self) -> str:
        """The rule that cleans them; empty for none."""
        return KINDS[self.kind].rule

    @property
    def tells_of_references(self) -> bool:
        """Whether it says something of the references, which some readers of a report may not know."""
        return KINDS[self.kind].needs_references or self.side == "reference"

    @property
    def sentence(self) -> FindingWarning:
        """The problem and the remedy, in one sentence."""
        return self._worded(self._shown + self._ids)

    @property
    def sentence_without_ids(self) -> FindingWarning:
        """The sentence with the number of candidates only."""
        return self._worded()

    @property
    def sentence_without_numbers(self) -> CaptionWarning:
        """The sentence without the number of candidates and their ids."""
        return CaptionWarning(f"Some {self.side}s {self._predicate}{self._advice}", self.kind)

    @classmethod
    def of_systems(cls, findings: Mapping[str, Finding]) -> CaptionWarning:
        """Return the sentence about findings of one kind in several systems."""
        first = next(iter(findings.values()))
        total = replace(first, n=sum(each.n for each in findings.values()), of=sum(e.of for e in findings.values()))
        counts = ", ".join(f"{system} {finding.n:,}" for system, finding in findings.items())
        return total._worded(f"{first._shown} ({counts})")

    def _worded(self, where: str = "") -> FindingWarning:
        verb, rest = self._predicate.split(" ", 1)
        counts = counted_of(self.n, self.of, self.side, verb)
        return FindingWarning(f"{counts} {rest}{where}{self._advice}", self)

    @property
    def _predicate(self) -> str:
        predicate = KINDS[self.kind].predicate
        if self.kind == "empty" and self.side == "reference":
            predicate += " or without words"
        return f"{predicate} ({_name(self.language)})" if self.language else predicate

    @property
    def _shown(self) -> str:
        return f", such as {self.text}" if self.text else ""

    @property
    def _ids(self) -> str:
        if not self.examples:
            return ""
        return f" ({self.ids} {', '.join(self.examples)}{', ...' if self.n > len(self.examples) else ''})"

    @property
    def _advice(self) -> str:
        kind = KINDS[self.kind]
        metrics = ", ".join(self.metrics) or ("CIDEr-D and BLEU" if kind.of_length else _NONE_NAMED)
        advice = kind.advice.replace("{metrics}", metrics)
        if self.ids != "image_id" and kind.rule:
            advice = "people judged them as they are"
        elif self.side == "reference" and self.kind in _ADVICE_OF_REFERENCES:
            advice = _ADVICE_OF_REFERENCES[self.kind]
        elif kind.rule:
            advice = f"{advice} {option('clean', kind.rule)}"
        elif kind.of_tokens:
            advice = self._of_language(advice)
        return f": {advice}{'' if advice.endswith('?') else '.'}"

    def _of_language(self, advice: str) -> str:
        """Complete the advice to name the language, which does not help metrics made for English."""
        advice = f"{advice} {setting('language', self.language or 'LANGUAGE')}"
        if self.language in WITHOUT_SPACES:
            advice += f", or choose a tokenizer, such as {setting('tokenizer', 'char')}"
        parts = [advice] if self.metrics or not self.english else []
        if self.english:
            is_or_are = "is" if len(self.english) == 1 else "are"
            parts.append(f"{listed(self.english)} {is_or_are} made for English, so these scores mean nothing")
        return "; ".join(parts)


#: What is said of debris in references, which rules do not clean.
_ADVICE_OF_REFERENCES = {
    "empty": "metrics compare captions with them nevertheless: remove them",
    "name": "is this the column of the references?",
} | {
    name: f"correct the references: {option('clean', 'RULE')} only changes candidates"
    for name in DEBRIS
    if name not in ("empty", "name") and KINDS[name].rule != OF_BOTH_SIDES
}


def _name(language: str) -> str:
    return LANGUAGES[language].name.capitalize()


class FindingWarning(CaptionWarning):
    """The warning about a finding, which warnings of several systems add up.

    Args:
        text: the sentence.
        finding: the finding.
    """

    finding: Finding

    def __new__(cls, text: str, finding: Finding) -> Self:
        self = super().__new__(cls, text, finding.kind)
        self.finding = finding
        return self

    def __getnewargs__(self) -> tuple[str, Finding]:  # type: ignore[override]
        return marked(self), self.finding


def excerpt(text: str, place: int = 0, *, most: int = 40, apart: bool = False) -> str:
    """Return a text in quotation marks as a message shows it, cut with "..." but never within an escape.

    Args:
        text: a text.
        place: a character that is shown.
        most: characters that are shown.
        apart: show accents that are characters of their own as escapes.
    """
    start = max(0, min(place - most // 3, len(text) - most)) if len(text) > most else 0
    shown_part, width = "", 0
    end = start
    for letter in islice(text, start, None):
        is_plain = letter.isprintable() and not (apart and unicodedata.combining(letter))
        piece = letter if is_plain else letter.encode("unicode_escape").decode()
        if width + len(piece) > most:
            break
        shown_part, width, end = shown_part + piece, width + len(piece), end + 1
    mark = "'" if '"' in shown_part else '"'
    return f"{mark}{'...' * (start > 0)}{shown_part}{'...' * (end < len(text))}{mark}"


# Counts of findings, which add up over parts.


@dataclass(frozen=True)
class CaptionFindings:
    """Counts of properties of captions.

    Args:
        n: number of candidates.
        references: number of their references.
        most_references: maximum number of references of an image.
        words: total words of the candidates, and of the references, averaged by image.
        candidates: kind -> number of candidates, the first few of their image ids, and an example.
        reference_counts: kind -> number of references among those checked; "script" and "foreign" if there are no
            candidates.
        n_looked_at: number of references checked.
        languages: languages of candidates that are not in English, with their numbers.
        same_references: a reference that all images have; empty if there is none.
    """

    n: int = 0
    references: int = 0
    most_references: int = 0
    words: tuple[float, float] = (0.0, 0.0)
    candidates: Mapping[str, tuple[int, tuple[str, ...], str]] = field(default_factory=dict)
    reference_counts: Mapping[str, int] = field(default_factory=dict)
    n_looked_at: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    same_references: str = ""

    @classmethod
    def of_references(cls, references: References) -> CaptionFindings:
        """Check references alone, such as those of a reward."""
        tokens = references.layer(TokenLayer(PTB))
        texts = references.texts[:_SAMPLE]
        languages = _languages(texts, Tokens.of(texts, PTB), main_language(texts[:_OF_LANGUAGE]))
        masks = _debris(references, tokens)
        masks["script"] = is_in_another_script(texts)
        masks["foreign"] = ~np.isin(languages, ("", "en")) & ~masks["script"]
        return cls(
            references=len(references.texts),
            most_references=int(np.diff(references.offsets).max(initial=0)),
            words=(0.0, float(_mean_lengths(tokens, references).sum())),
            reference_counts=_counts(masks),
            n_looked_at=len(texts),
            languages=dict(Counter(languages[masks["foreign"] | masks["script"]].tolist()).most_common()),
        )

    @classmethod
    def of(cls, captions: Captions | CaptionSets) -> CaptionFindings:
        """Check captions and, if present, their references."""
        references = captions.references
        if isinstance(captions, CaptionSets):
            texts, rows = captions.candidates.texts, np.repeat(np.arange(len(captions)), captions.counts)
            reference_tokens = references.layer(TokenLayer(PTB))
            tokens = Tokens.of(texts, PTB, reference_tokens.vocabulary)
        else:
            texts, rows = captions.candidates, np.arange(len(captions))
            tokens, reference_tokens = captions.layer(TokenLayer(PTB))
        images = [*map(str, captions.ids)]
        ids = [*map(images.__getitem__, rows.tolist())]
        reference_texts = references.texts if references.present else ()
        reference_words = np.zeros(len(texts))
        of_references = main_language(reference_texts[:_OF_LANGUAGE])
        languages = _languages(texts, tokens, of_references)
        is_foreign = ~np.isin(languages, ("", "en"))
        masks = kinds_in(texts)
        masks["name"] |= _are_names(texts, ids)
        masks["script"] = is_in_another_script(texts)
        masks["repetition"] = checks.repeats_itself(tokens.ids, tokens.offsets)
        masks["parse"] = tokens.lengths > LONG_SENTENCE
        dangles = _dangles(tokens) & ~is_foreign
        masks["cut"] = is_cut_off(texts, tokens.lengths, dangles) | dangles
        masks["foreign"] = is_foreign & ~masks["script"]
        if references.present:
            reference_words = _mean_lengths(reference_tokens, references)[rows]
            masks |= _masks_beside(texts, rows, tokens, references, len(reference_tokens.vocabulary), reference_words)
            others = [code for code in {*languages.tolist()} if code and not related(code, of_references)]
            masks["language"] = np.isin(languages, others) & bool(of_references) & ~masks["script"]
            masks["foreign"] &= ~masks["language"]
            masks["vocabulary"] &= ~(masks["script"] | masks["language"])
            masks["short"] &= ~masks["script"]  # words of other scripts are not separated as PTB expects
        for hidden, reasons in _HIDDEN.items():
            explained = np.any([*map(masks.__getitem__, reasons)], axis=0)
            for kind in masks.keys() & hidden:
                masks[kind] &= ~explained
        found = {kind: np.flatnonzero(mask) for kind, mask in masks.items() if mask.any()}
        return cls(
            len(texts),
            len(reference_texts),
            int(np.diff(references.offsets).max(initial=0)) if references.present else 0,
            (float(tokens.lengths.sum()), float(reference_words.sum())),
            {
                kind: (len(where), tuple(ids[i] for i in where[:_EXAMPLES]), _shown(kind, texts[where[0]]))
                for kind, where in found.items()
            },
            _counts(_debris(references, reference_tokens)) if references.present else {},
            min(len(reference_texts), _SAMPLE),
            dict(Counter(languages[is_foreign].tolist()).most_common()),
            _shared_reference(references),
        )

    def __add__(self, other: CaptionFindings) -> CaptionFindings:
        none: tuple[int, tuple[str, ...], str] = (0, (), "")
        pairs = {
            kind: (self.candidates.get(kind, none), other.candidates.get(kind, none))
            for kind in [*dict.fromkeys([*self.candidates, *other.candidates])]
        }
        same = {part.same_references for part in (self, other) if part.n}
        return CaptionFindings(
            self.n + other.n,
            self.references + other.references,
            max(self.most_references, other.most_references),
            (self.words[0] + other.words[0], self.words[1] + other.words[1]),
            {kind: (a[0] + b[0], (*a[1], *b[1])[:_EXAMPLES], a[2] or b[2]) for kind, (a, b) in pairs.items()},
            dict(Counter(self.reference_counts) + Counter(other.reference_counts)),
            self.n_looked_at + other.n_looked_at,
            dict(Counter(self.languages) + Counter(other.languages)),
            same.pop() if len(same) == 1 else "",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CaptionFindings:
        """Restore from the values of ``to_dict``."""
        candidates = {kind: (n, tuple(ids), text) for kind, (n, ids, text) in document["candidates"].items()}
        return cls(**{**document, "words": tuple(document["words"]), "candidates": candidates})

    @property
    def all_findings(self) -> list[Finding]:
        """All findings about candidates, those too rare for a warning included."""
        return [
            Finding(kind, n, self.n, examples, text, self.language if kind in _WITH_LANGUAGE else "")
            for kind in KINDS
            if kind in self.candidates
            for n, examples, text in [self.candidates[kind]]
        ]

    @property
    def findings(self) -> list[Finding]:
        """Findings that deserve a warning: not chance, and unusual in captions by people and in these references."""
        found = [finding for finding in self.all_findings if self._is_unusual(finding)]
        kinds = DEBRIS if self.n else (*DEBRIS, "script", "foreign")
        return found + [
            self._of_reference(kind)
            for kind in kinds
            if kind in self.reference_counts and self._is_unusual_of_references(kind)
        ]

    def _of_reference(self, kind: str) -> Finding:
        language = self.language if kind in _WITH_LANGUAGE else ""
        return Finding(kind, self.reference_counts[kind], self.n_looked_at, (), language=language, side="reference")

    def _is_unusual_of_references(self, kind: str) -> bool:
        n, of = self.reference_counts[kind], self.n_looked_at
        if kind == "empty":
            return n > 0 and self.words[1] > 0  # all of them are another warning
        if KINDS[kind].rule == OF_BOTH_SIDES:
            of_candidates = self.candidates.get(kind, (0,))[0] / max(self.n, 1)
            return n > _RATIO * max(KINDS[kind].usual, of_candidates) * of
        return n > max(_RATIO * KINDS[kind].usual, _LEAST_OF_REFERENCES) * of

    def _is_unusual(self, finding: Finding) -> bool:
        kind = KINDS[finding.kind]
        if finding.n < (max(kind.least * self.n, _MIN_NUMBER) if kind.least else 1):
            return False
        share = 0.0 if kind.of_tokens else self.reference_counts.get(finding.kind, 0) / max(self.n_looked_at, 1)
        return finding.n > _RATIO * max(kind.usual, share) * self.n

    @property
    def language(self) -> str:
        """The language of most candidates that are not in English; empty if there are none, or if it is not known."""
        return max(self.languages, key=lambda code: self.languages[code], default="")

    @property
    def is_foreign(self) -> bool:
        """Whether most candidates are not in English."""
        return max(sum(self.languages.values()), self.candidates.get("script", (0,))[0]) > 0.5 * self.n

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about the captions, one sentence each, for any metrics."""
        findings = [finding.sentence for finding in self.findings]
        return [*self.about_references, *self._alike_references, *findings]

    @property
    def about_references(self) -> list[CaptionWarning]:
        """The warning that references are empty, or else that every image has only one."""
        if self.references and not self.words[1]:
            return [_EMPTY_REFERENCES]
        if self.most_references != 1 or self.n <= 1:
            return []
        text = (
            "every image has only one reference: caption metrics expect about five, and scores with one cannot be "
            "compared with published ones."
        )
        return [CaptionWarning(text, "one-reference")]

    @property
    def _alike_references(self) -> list[CaptionWarning]:
        """The warning that all images have a reference in common; CIDEr issues its own."""
        if not self.same_references or self.n <= 1:
            return []
        text = (
            f"all images have the reference {excerpt(self.same_references)}: CIDEr and CIDEr-D give n-grams of all "
            "images the weight ln 1 = 0, so captions like it get 0. Use other metrics, or score with document "
            f"frequencies of other captions ({setting('idf', 'FILE')})."
        )
        return [CaptionWarning(text, "same-references")]

    def findings_for(self, selection: Selection) -> list[Finding]:
        """Return the findings that matter to the metrics of a run, which their advice names."""
        found = []
        for finding in self.findings:
            kind = KINDS[finding.kind]
            concerned = [item.metric for item in selection.requested if _concerns(kind, item.metric, selection)]
            matters = selection.needs_references or (kind.alone and finding.side == "candidate")
            if concerned and matters and not kind.before_scoring:
                english = dict.fromkeys(one.name for one in concerned if kind.of_tokens and one.english_only)
                others = dict.fromkeys(one.name for one in concerned if one.name not in english)
                some = kind.of_tokens or kind.of_length
                found.append(replace(finding, metrics=tuple(others), english=tuple(english)) if some else finding)
        return found

    def warnings_for(self, selection: Selection) -> list[CaptionWarning]:
        """Return the warnings that matter to the metrics of a run, the first one about lengths if it needs to be."""
        sentences = self._of_lengths(selection)
        said = ("sentences", "long") if sentences else ()
        if selection.needs_references:
            sentences += self.about_references
        return sentences + [finding.sentence for finding in self.findings_for(selection) if finding.kind not in said]

    def _of_lengths(self, selection: Selection) -> list[CaptionWarning]:
        """Return the warning of metrics that nobody named about captions many times as long as references."""
        times_as_long = self.words[0] / self.words[1] if self.words[1] else 0.0
        if times_as_long < _MANY_TIMES:
            return []
        by_length = [
            item.metric.name
            for item in selection.requested
            if not item.is_named and _depends_on(item.metric, _OF_LENGTH)
        ]
        if not by_length:
            return []
        text = (
            f"candidates are {times_as_long:.1f} times as long as references, so {listed(by_length)} mostly "
            "measure length, not what is said: judge them by spice-p:split=sentences and spice-r:split=sentences "
            "(precision and recall), concur, coverage or length."
        )
        return [CaptionWarning(text, LENGTH)]

    def without_meaning(self, selection: Selection) -> frozenset[str]:
        """Return the labels of results that are never marked as the best: they mean nothing for these captions."""
        foreign = self.is_foreign and selection.settings.language is None
        too_long = bool(self._of_lengths(selection))
        unspaced = foreign and self.language in WITHOUT_SPACES
        return frozenset(
            label
            for item in selection.requested
            for label in item.output_indices
            if (foreign and item.metric.english_only)
            or (unspaced and _is_english(item.metric))
            or (too_long and _depends_on(item.metric, _OF_LENGTH))
            or (item.metric.english_only and selection.settings.is_foreign)
        )


_EMPTY_REFERENCES = CaptionWarning(
    "all references are empty or have no words: metrics that compare captions with them give 0. Is this the column of "
    "the references?",
    "empty-references",
)
#: The kind of the warning about captions far longer than references, which tables show above them.
LENGTH = "length"
_WITH_LANGUAGE = frozenset(("script", "foreign", "language"))


def foreign_language(tables: Sequence[Captions | CaptionSets], selection: Selection) -> str | None:
    """Return the name of the language of captions, if a metric that nobody named is for English only and they are not.

    Args:
        tables: the captions of all systems.
        selection: the metrics.
    """
    if not [item for item in selection.requested if item.metric.english_only and not item.is_named]:
        return None
    language = selection.settings.language
    if isinstance(language, Language):
        return _name(language.code) if selection.settings.is_foreign else None
    candidates = [table.candidates.texts if isinstance(table, CaptionSets) else table.candidates for table in tables]
    texts = [text for of_system in candidates for text in of_system[:_OF_LANGUAGE]]
    code = main_language(texts)
    are_foreign = is_in_another_script(texts) | ~np.isin([language_of(text) for text in texts], ("", "en"))
    if code == "en" or 2 * are_foreign.sum() <= len(texts):
        return None
    return _name(code) if code else "another script"


def _concerns(kind: Kind, metric: BaseMetric, selection: Selection) -> bool:
    """Return whether a kind matters to a metric."""
    if kind.of_length and not _depends_on(metric, _OF_LENGTH):
        return False
    return not kind.of_tokens or (selection.settings.language is None and _is_english(metric))


def _depends_on(metric: BaseMetric, names: tuple[str, ...]) -> bool:
    return metric.name.removeprefix("sum:").startswith(names)


def _is_english(metric: BaseMetric) -> bool:
    return metric.english_only or not ENGLISH.isdisjoint(metric.tokens.split(", "))


def ids_warnings(captions: Captions | CaptionSets) -> list[CaptionWarning]:
    """Return the warning about images that were left out, but would match by a rule for ids."""
    return [CaptionWarning(captions.ids_advice, "ids")] if captions.ids_advice else []


def _are_names(texts: Sequence[str], images: Sequence[str]) -> list[bool]:
    """Return whether each text is the id of its image, or the name in it without folder and extension."""
    return [
        bool(text) and text.strip() in image and text.strip() in (image, image.rpartition("/")[2].partition(".")[0])
        for text, image in zip(texts, images, strict=True)
    ]


def _shown(kind: str, text: str) -> str:
    """Return what is shown of a text of this kind; empty for kinds that no part of it shows."""
    if kind not in _SHOWN:
        return ""
    if kind in TEXT_KINDS:
        return excerpt(text, TEXT_KINDS[kind].place(text), apart=kind == "decomposed")
    return excerpt(text, len(text) if kind in _AT_END else 0)


def _shared_reference(references: References) -> str:
    """Return the first reference that all images have; empty if there is none."""
    if not references.present or not references.texts:
        return ""
    images = pairwise(references.offsets.tolist())
    shared = [*references.texts[slice(*next(images))]]
    for bounds in images:
        of_image = references.texts[slice(*bounds)]
        shared = [text for text in shared if text in of_image]
        if not shared:
            return ""
    return shared[0] if shared else ""


def _debris(references: References, tokens: Tokens) -> dict[str, NDArray[np.bool_]]:
    """Return masks of the first references for each kind of text; ``tokens`` are those of all."""
    texts = references.texts[:_SAMPLE]
    kinds = kinds_in(texts)
    counts = np.diff(references.offsets)[: len(texts)]
    rows = np.repeat(np.arange(len(counts)), counts)[: len(texts)].tolist()
    named = _are_names(texts, [*map(str, map(references.ids.__getitem__, rows))])
    return kinds | {"name": kinds["name"] | named, "empty": tokens.lengths[: len(texts)] == 0}


def _counts(masks: Mapping[str, NDArray[np.bool_]]) -> dict[str, int]:
    """Return the number of texts of each kind that occurs."""
    return {kind: n for kind, mask in masks.items() if (n := int(mask.sum()))}


def _languages(texts: Sequence[str], tokens: Tokens, of_references: str) -> NDArray[np.str_]:
    """Return the code of the language of each text, "" if it is not known.

    Texts with many English function words are taken for English, unless the references are in another language, and
    those with as many of both for that one.
    """
    words, own_words = _english_words()
    english = _counts_of(tokens, _are_words(tokens, words))
    only_english = _counts_of(tokens, _are_words(tokens, own_words))
    surely = (only_english > 0) & (english >= _SURELY_ENGLISH * tokens.lengths)
    codes = ["en"] * len(texts)
    for row in np.flatnonzero(~surely | (of_references not in ("", "en"))).tolist():
        code = language_of(texts[row], of_references)
        codes[row] = code if code == "en" or not surely[row] else ""
    return np.array(codes, np.str_)


@cache
def _english_words() -> tuple[Sequence[str], Sequence[str]]:
    """Return the function words of English, and those that no other language has."""
    words = {word: languages for word, languages in function_words().items() if "en" in languages}
    return (*words,), tuple(word for word in words if {*words[word]} == {"en"})


def _are_words(tokens: Tokens, words: Iterable[str]) -> NDArray[np.bool_]:
    """Return whether each token is among these words, bool[n_tokens]."""
    flags = np.zeros(len(tokens.vocabulary) + 1, bool)  # the last one for words that are unknown
    flags[tokens.vocabulary.find(tuple(words))] = True
    flags[-1] = False
    return flags[tokens.ids]


def _counts_of(tokens: Tokens, flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many tokens of each caption have a flag, int64[n]."""
    before = np.concatenate([[0], np.cumsum(flags)])
    return np.asarray(before[tokens.offsets[1:]] - before[tokens.offsets[:-1]])


def _dangles(tokens: Tokens) -> NDArray[np.bool_]:
    """Find captions whose last word is an article or another word that is never the last, bool[n]."""
    mask = tokens.lengths >= _MIN_WORDS
    mask[mask] = _are_words(tokens, _DANGLING)[tokens.offsets[1:][mask] - 1]
    return mask


def _masks_beside(
    texts: Sequence[str],
    rows: NDArray[np.int64],
    tokens: Tokens,
    references: References,
    n_words_of_references: int,
    reference_words: NDArray[np.float64],
) -> dict[str, NDArray[np.bool_]]:
    """Return masks for the kinds detected by comparison with references; ``rows`` are the images of the texts."""
    of_images = [references.texts[start:end] for start, end in pairwise(references.offsets.tolist())]
    copies = [text in of_images[row] for row, text in zip(rows.tolist(), texts, strict=True)]
    n_words = tokens.lengths
    n_known = _counts_of(tokens, tokens.ids < n_words_of_references)
    return {
        "copy": np.array(copies, bool),
        "long": n_words > np.maximum(_RATIO * reference_words, reference_words + _WORDS_MORE),
        "short": n_words < np.minimum(reference_words / _RATIO, reference_words - _WORDS_LESS),
        "vocabulary": (n_known < _FAMILIAR * n_words)
        & (n_words >= _MIN_WORDS)
        & (len(references.texts) >= MIN_REFERENCES),
    }


def _mean_lengths(tokens: Tokens, references: References) -> NDArray[np.float64]:
    """Return the mean number of words in the references of each image, float64[n_images]."""
    counts = np.diff(references.offsets)
    words = np.diff(tokens.offsets[references.offsets])
    return np.asarray(words / np.maximum(counts, 1))


# Warnings about small numbers of images and references, warnings of several systems, and their issue.

#: Sentences that were shown in this process.
issued: set[str] = set()
#: Fewer images than these are too few for intervals and tests.
FEW_IMAGES = 10


def issue(sentences: Iterable[str]) -> None:
    """Issue warnings, attributed to the caller of captious, each wording once per process where it is not suppressed.

    Python's own filters would repeat them in every cell of a notebook. The filter "always" is obeyed.
    """
    for sentence in sentences:
        text = shown(sentence)
        action = _action(text)
        if sentence not in issued or action == "always":
            if action != "ignore":
                issued.add(sentence)
            warnings.warn(text, CaptiousWarning, stacklevel=_level_of_caller())


def _action(text: str) -> str:
    """Return what the first of Python's filters that fits a warning, wherever it is from, does with it."""
    for action, message, category, module, line in warnings.filters:
        fits = issubclass(CaptiousWarning, category) and (message is None or message.match(text))
        if fits and module is None and not line:
            return action
    return "default"


def _level_of_caller() -> int:
    """Return the number of frames up to the first that is not of this package, as ``warnings.warn`` counts them."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "captious":
        frame, level = frame.f_back, level + 1
    return level


def warnings_by_system(warnings: Sequence[tuple[str, Sequence[CaptionWarning]]]) -> list[CaptionWarning]:
    """Return the warnings of systems, each kind of finding once with its number in each system.

    Others are those of each system, the same ones once; those of only some systems begin with the names of these.

    Args:
        warnings: name and warnings of each system.
    """
    systems: dict[str, dict[str, CaptionWarning]] = {}
    for system, sentences in warnings:
        for sentence in sentences:
            # what differs only in its numbers is one warning
            key = sentence.kind if isinstance(sentence, FindingWarning) else _NUMBER.sub("#", sentence)
            systems.setdefault(key, {}).setdefault(system, sentence)
    return [_of_systems(by_system, len(warnings)) for by_system in systems.values()]


_NUMBER = re.compile(r"\d[\d,.]*")


def _of_systems(by_system: Mapping[str, CaptionWarning], n: int) -> CaptionWarning:
    """Return the warning of one or several of n systems."""
    first = next(iter(by_system.values()))
    if len({*by_system.values()}) == 1:
        return first if len(by_system) == n else first.of(", ".join(by_system))
    findings = {system: warning.finding for system, warning in by_system.items() if isinstance(warning, FindingWarning)}
    if findings:
        return Finding.of_systems(findings)
    names = f"{len(by_system)} of {n} systems ({', '.join(by_system)})" if len(by_system) < n else f"all {n} systems"
    return CaptionWarning(f"in {names}, such as {next(iter(by_system))}: {marked(first)}", first.kind)


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


def warnings_of_references(references: References) -> list[CaptionWarning]:
    """Return a warning if all references are empty, or else if every image has only one reference."""
    if not any(map(str.strip, references.texts)):
        return [_EMPTY_REFERENCES]
    if len(references.texts) != len(references):
        return []
    sentence = "every image has only one caption: are these references, or the candidates of a system?"
    return [CaptionWarning(sentence, "one-reference")]
