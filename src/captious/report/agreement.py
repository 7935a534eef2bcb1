"""Agreement of a candidate with its references, word by word, as text.

share  similarity
.4321      1.0000  dog = dog
.0512       .4102  runs ~ walking
"""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from captious.learned.captious import Agreement, WordAgreement
from captious.report import numbers

__all__ = ["AgreementPicture"]


class AgreementPicture:
    """What each word adds, which a rich console can print.

    Args:
        agreement: what to show.
    """

    def __init__(self, agreement: Agreement) -> None:
        self.agreement = agreement

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.agreement
        rows = [(numbers.score(each.share), numbers.score(each.similarity)) for each in found.words]
        widths = [max(map(len, column)) for column in zip(("share", "similarity"), *rows, strict=True)]
        head = "  ".join(title.rjust(width) for title, width in zip(("share", "similarity"), widths, strict=True))
        yield Text(f"  {head}", style="dim", no_wrap=True)
        for word, row in zip(found.words, rows, strict=True):
            cells = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            yield Text.assemble(f"  {cells}  ", _pair(word), no_wrap=True)
        if found.unsound:
            pairs = (" ".join(numbers.plain(side or "|") for side in pair) for pair in found.unsound)
            yield Text(f"  unsound  {' · '.join(pairs)}", style="yellow", no_wrap=True)
        cosines = " ".join(map(numbers.score, found.cosines))
        yield Text(f"  references {numbers.score(found.centroid)} ({cosines}) · sparcs {numbers.score(found.sparcs)}")
        yield Text(f"  score {numbers.score(found.score)}")
        yield Text("")
        yield Text(
            "Share: what a word adds to the cosine with all references. Similarity: cosine with the closest of their "
            "words. Unsound: words that do not belong side by side; | is an end of the caption."
        )


def _pair(word: WordAgreement) -> Text:
    if word.closest is None:
        return Text(f"{numbers.plain(word.word)} (unknown)", style="dim")
    same = word.closest == word.word
    return Text(
        f"{numbers.plain(word.word)} {'=' if same else '~'} {numbers.plain(word.closest)}",
        style="green" if same else "",
    )
