"""Explanations that go word by word, as text: WMD's transport plans, captious' agreement, CHAIR's mentions.

share  distance
.3333    3.9500  dog → puppy
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.text import Text

from captious.learned.caption_agreement import Agreement
from captious.metrics.chair import Mentions
from captious.metrics.wmd import Transport
from captious.report import numbers
from captious.report.hanging_lines import HangingLine

__all__ = ["agreement_text", "mentions_text", "transport_legend", "transport_text"]

_BEST = "◀"
_PRESENT = ("✓", "green")
_HALLUCINATED = ("✗", "bold red")


def transport_text(transport: Transport, *, best: bool = False) -> Group:
    """The words of both sides, what each word of the candidate goes to, how much of the caption that is, and how far.

    Args:
        transport: the plan.
        best: mark it as the nearest of several.
    """
    lines: list[Text | HangingLine] = [
        _side("candidate", transport.candidate, transport.candidate_left_out),
        _side("reference", transport.reference, transport.reference_left_out),
    ]
    if transport.moves:
        ways = [Text(f"{numbers.plain(move.word)} → {numbers.plain(move.reference_word)}") for move in transport.moves]
        for way, move in zip(ways, transport.moves, strict=True):
            way.stylize("green" if move.word == move.reference_word else "")
        lines += _listed("    ", ("share", "distance"), [(move.share, move.distance) for move in transport.moves], ways)
    distance = "infinite" if transport.distance is None else numbers.score(transport.distance)
    line = Text(f"  distance {distance} · score {numbers.score(transport.score)}", no_wrap=True)
    return Group(*lines, line.append(f" {_BEST}", "green") if best else line)


def transport_legend(transports: Sequence[Transport]) -> Text:
    """What the numbers of transport plans mean."""
    text = Text("Share: fraction of all words with a vector. The distance is the sum of shares times distances.")
    return text.append("  ").append(_BEST, "green").append(" nearest") if len(transports) > 1 else text


def _side(name: str, words: Sequence[tuple[str, float]], left_out: Sequence[str]) -> HangingLine:
    shown = " ".join(numbers.plain(word) for word, _ in words) or "(no word with a vector)"
    ignored = f"  ignored: {' '.join(map(numbers.plain, left_out))}" if left_out else ""
    return HangingLine(Text(f"  {name}  "), Text.assemble(shown, (ignored, "dim")))


def agreement_text(agreement: Agreement) -> Group:
    """What each word of the candidate adds to its similarity to the references, and the closest of their words."""
    pairs = []
    for word in agreement.words:
        if word.closest is None:
            pairs.append(Text(f"{numbers.plain(word.word)} (unknown)", "dim"))
        else:
            sign, style = ("=", "green") if word.closest == word.word else ("~", "")
            pairs.append(Text(f"{numbers.plain(word.word)} {sign} {numbers.plain(word.closest)}", style))
    lines = _listed("  ", ("share", "similarity"), [(word.share, word.similarity) for word in agreement.words], pairs)
    unsound = [" ".join(numbers.plain(side or "|") for side in pair) for pair in agreement.unsound]
    cosines = " ".join(map(numbers.score, agreement.cosines))
    return Group(
        *lines,
        *([HangingLine(Text("  unsound  ", "yellow"), Text(" · ".join(unsound), "yellow"))] if unsound else []),
        Text(
            f"  references {numbers.score(agreement.centroid)} ({cosines}) · sparcs {numbers.score(agreement.sparcs)}"
        ),
        Text(f"  score {numbers.score(agreement.score)}"),
        Text(""),
        Text(
            "Share: what a word adds to the cosine with all references. Similarity: cosine with the closest of their "
            "words. Unsound: words that do not belong side by side; | is an end of the caption."
        ),
    )


def _listed(
    indent: str, heads: Sequence[str], rows: Sequence[Sequence[float]], texts: Sequence[Text]
) -> Iterator[Text | HangingLine]:
    """Columns of numbers under their heads, and a text behind each row."""
    cells = [heads, *(tuple(map(numbers.score, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    head, *lines = ("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    yield Text(f"{indent}{head}", "dim", no_wrap=True)
    yield from (HangingLine(Text(f"{indent}{line}  "), text) for line, text in zip(lines, texts, strict=True))


def mentions_text(mentions: Mentions) -> Group:
    """The objects that a caption names: the caption with its mentions marked, what they mean, and which are wrong."""
    tokens = [*map(numbers.plain, mentions.tokens)]
    caption = Text()
    lines = []
    end = 0
    for mention, wrong in zip(mentions.mentions, mentions.hallucinated, strict=True):
        sign, style = _HALLUCINATED if wrong else _PRESENT
        words = " ".join(tokens[mention.start : mention.end])
        caption.append(" ".join([*tokens[end : mention.start], ""]))
        caption.append(f"{words}{'*' if wrong else ''}", f"{style} underline").append(" ")
        name = numbers.plain(mention.object)
        lines.append(Text(f"  {sign} {words}{'' if words == name else f' = {name}'}", style, no_wrap=True))
        end = mention.end
    caption.append(" ".join(tokens[end:]))
    scores = (f"{name} {numbers.score(value)}" for name, value in mentions.scores.items())
    unmentioned = mentions.unmentioned and mentions.mentions
    return Group(
        caption,
        *(lines or [Text("  no object is named", "dim")]),
        Text(f"  in the image: {_names(mentions.objects)}"),
        *([Text(f"  not named: {_names(mentions.unmentioned)}", "dim")] if unmentioned else []),
        Text(f"  {' · '.join(scores)}"),
        Text(""),
        Text("✓ in the image. ✗ hallucinated. chair-i: share of hallucinated mentions."),
    )


def _names(objects: Sequence[str]) -> str:
    return ", ".join(map(numbers.plain, objects)) or "none"
