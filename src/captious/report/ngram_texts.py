"""Explanations of n-grams (BLEU, CIDEr) and of common subsequences (ROUGE-L) as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from captious.metrics.shared.word_explanations import (
    MatchedNgram,
    NgramMatches,
    NgramWeights,
    SubsequenceExplanation,
)
from captious.report import numbers
from captious.report.hanging_lines import HangingLine

__all__ = ["ngram_matches_text", "ngram_weights_text", "subsequence_text"]

_MATCHED = "green"
_MOST = 12  # n-grams that a line lists


def ngram_matches_text(explanation: NgramMatches) -> Group:
    """Each order with its precision and its n-grams, first those that match."""
    lines = [_candidate(explanation.candidate)]
    for order, precision in enumerate(explanation.precisions, 1):
        of_order = [ngram for ngram in explanation.ngrams if len(ngram.words) == order]
        matched, count = sum(ngram.matched for ngram in of_order), sum(ngram.count for ngram in of_order)
        texts = [_matched(ngram) for ngram in sorted(of_order, key=lambda ngram: not ngram.matched)]
        lines.append(_order(order, precision, f" = {matched}/{count}", texts))
    return Group(
        *lines,
        Text(
            f"  brevity penalty {numbers.score(explanation.brevity_penalty)} · {explanation.length} words, closest "
            f"reference {explanation.closest_length}"
        ),
        Text(f"  bleu-4 {numbers.score(explanation.score)}"),
        Text(""),
        Text("✗ in no reference; n/m: n of m occurrences match."),
    )


def ngram_weights_text(explanation: NgramWeights) -> Group:
    """Each order with its part of the score and the n-grams that add to it, and n-grams that no reference has."""
    lines = [_candidate(explanation.candidate)]
    for order, value in enumerate(explanation.orders, 1):
        adding = [ngram for ngram in explanation.ngrams if len(ngram.words) == order and ngram.adds]
        texts = [
            Text.assemble(
                (_plain(ngram.words), _MATCHED), f" {numbers.score(ngram.adds, 3)}", (f" ×{ngram.references}", "dim")
            )
            for ngram in adding
        ]
        lines.append(_order(order, value, "", texts))
    unmatched = [
        Text.assemble((f"✗ {_plain(ngram.words)}", "red"), (f" {numbers.score(ngram.weight, 2)}", "dim"))
        for ngram in explanation.ngrams
        if not ngram.references
    ]
    return Group(
        *lines,
        *([_listed(Text("  in no reference"), unmatched)] if unmatched else []),
        Text(f"  score {numbers.score(explanation.score)}"),
        Text(""),
        Text(
            "Numbers: what an n-gram adds to the score; ×: how many references have it; ✗: inverse document frequency."
        ),
    )


def _candidate(words: tuple[str, ...]) -> HangingLine:
    return HangingLine(Text("  candidate  "), Text(_plain(words)))


def _order(order: int, value: float, share: str, ngrams: Sequence[Text]) -> HangingLine:
    """A line for the n-grams of an order."""
    return _listed(Text.assemble(f"  {order}-grams  {numbers.score(value)}", (share, "dim")), ngrams)


def _listed(head: Text, ngrams: Sequence[Text]) -> HangingLine:
    """A line with the first n-grams behind its head."""
    shown = Text(" · ", "dim").join(ngrams[:_MOST])
    if len(ngrams) > _MOST:
        shown.append(f" and {len(ngrams) - _MOST} more", "dim")
    return HangingLine(head.append("  "), shown)


def _matched(ngram: MatchedNgram) -> Text:
    words = _plain(ngram.words)
    if not ngram.matched:
        return Text(f"✗ {words}", "red")
    part = f" {ngram.matched}/{ngram.count}" if ngram.count > 1 else ""
    return Text.assemble((words, _MATCHED), part)


def subsequence_text(explanation: SubsequenceExplanation) -> Group:
    """The common words of the candidate and each reference, in brackets."""
    lines: list[Text | HangingLine] = []
    for part in explanation.references:
        ours, theirs = {i for i, _ in part.places}, {j for _, j in part.places}
        lines += [
            _marked("candidate", explanation.candidate, ours),
            _marked("reference", part.reference, theirs),
            Text(
                f"  {len(part.places)} in common · precision {numbers.score(part.precision)} · recall "
                f"{numbers.score(part.recall)}",
                "dim",
            ),
            Text(""),
        ]
    return Group(
        *lines,
        Text(f"  precision {numbers.score(explanation.precision)} · recall {numbers.score(explanation.recall)}"),
        Text(f"  score {numbers.score(explanation.score)}"),
        Text(""),
        Text("[ ] words of the longest common subsequence."),
    )


def _marked(name: str, words: tuple[str, ...], places: set[int]) -> HangingLine:
    shown = [
        Text(f"[{numbers.plain(word)}]", _MATCHED) if place in places else Text(numbers.plain(word))
        for place, word in enumerate(words)
    ]
    return HangingLine(Text(f"  {name}  "), Text(" ").join(shown))


def _plain(words: tuple[str, ...]) -> str:
    return " ".join(map(numbers.plain, words))
