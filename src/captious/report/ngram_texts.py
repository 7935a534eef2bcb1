"""Explanations of n-grams (BLEU, CIDEr) and of common subsequences (ROUGE-L) as text."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from captious.metrics.shared.word_explanations import MatchedNgram, NgramExplanation, SubsequenceExplanation
from captious.report import numbers

__all__ = ["ngram_text", "subsequence_text"]

_MATCHED = "green"
_MOST = 12  # n-grams of an order that are listed


def ngram_text(explanation: NgramExplanation) -> Group:
    """Each order with its value and its n-grams: those that match, or those that add to the score."""
    facts = explanation.facts
    is_bleu = "brevity penalty" in facts
    lines = [Text(f"  candidate  {_plain(explanation.candidate)}", no_wrap=True)]
    for order, value in enumerate(explanation.orders, 1):
        of_order = [ngram for ngram in explanation.ngrams if len(ngram.words) == order]
        line = Text(f"  {order}-grams  {numbers.score(value)}", no_wrap=True)
        if is_bleu:
            matched, count = sum(ngram.matched for ngram in of_order), sum(ngram.count for ngram in of_order)
            line.append(f" = {matched}/{count}", "dim")
            of_order = [ngram for ngram in of_order if ngram.matched] + [g for g in of_order if not g.matched]
        for number, ngram in enumerate(of_order[:_MOST]):
            line.append(" · " if number else "  ", "dim").append_text(_ngram(ngram))
        if len(of_order) > _MOST:
            line.append(f" and {len(of_order) - _MOST} more", "dim")
        lines.append(line)
    if not is_bleu:
        score, legend = "  score ", "Numbers: what an n-gram adds to the score; × how many references have it."
    else:
        lines.append(
            Text(
                f"  brevity penalty {numbers.score(facts['brevity penalty'])} · {facts['length']:.0f} words, closest "
                f"reference {facts['closest reference']:.0f}"
            )
        )
        score, legend = "  bleu-4 ", "✗ in no reference; n/m: n of m occurrences match."
    return Group(*lines, Text(f"{score}{numbers.score(explanation.score)}"), Text(""), Text(legend))


def _ngram(ngram: MatchedNgram) -> Text:
    words = _plain(ngram.words)
    if ngram.adds is not None:
        return Text.assemble((words, _MATCHED), f" {numbers.score(ngram.adds, 3)}", (f" ×{ngram.matched}", "dim"))
    if not ngram.matched:
        return Text(f"✗ {words}", "red")
    part = f" {ngram.matched}/{ngram.count}" if ngram.count > 1 else ""
    return Text.assemble((words, _MATCHED), part)


def subsequence_text(explanation: SubsequenceExplanation) -> Group:
    """The common words of the candidate and each reference, in brackets."""
    lines: list[Text] = []
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


def _marked(name: str, words: tuple[str, ...], places: set[int]) -> Text:
    line = Text(f"  {name} ", no_wrap=True)
    for place, word in enumerate(words):
        shown = numbers.plain(word)
        line.append(" ").append(f"[{shown}]" if place in places else shown, _MATCHED if place in places else "")
    return line


def _plain(words: tuple[str, ...]) -> str:
    return " ".join(map(numbers.plain, words))
