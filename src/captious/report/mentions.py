"""The objects that a caption names, as text: CHAIR.

a man riding a motorcycle with a dog
  ✓ man = person
  ✗ motorcycle
  ✓ dog
"""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from captious.metrics.chair import Mentions
from captious.report import numbers

__all__ = ["MentionsPicture"]

_STYLES = {False: "green", True: "bold red"}
_SIGNS = {False: "✓", True: "✗"}


class MentionsPicture:
    """The mentions of a caption, which a rich console can print.

    Args:
        found: what to show.
    """

    def __init__(self, found: Mentions) -> None:
        self.found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.found
        yield self._caption()
        for mention, wrong in zip(found.mentions, found.hallucinated, strict=True):
            words = numbers.plain(" ".join(found.tokens[mention.start : mention.end]))
            means = "" if words == mention.object else f" = {numbers.plain(mention.object)}"
            yield Text(f"  {_SIGNS[wrong]} {words}{means}", style=_STYLES[wrong], no_wrap=True)
        if not found.mentions:
            yield Text("  no object is named", style="dim")
        yield Text(f"  in the image: {_listed(found.objects)}")
        if found.unmentioned and found.mentions:
            yield Text(f"  not named: {_listed(found.unmentioned)}", style="dim")
        scores = (f"{name} {numbers.score(value)}" for name, value in found.scores.items())
        yield Text(f"  {' · '.join(scores)}")
        yield Text("")
        yield Text("✓ in the image. ✗ hallucinated. chair-i: share of hallucinated mentions.")

    def _caption(self) -> Text:
        """The caption with its mentions marked."""
        tokens = [*map(numbers.plain, self.found.tokens)]
        text = Text()
        start = 0
        for mention, wrong in zip(self.found.mentions, self.found.hallucinated, strict=True):
            text.append(" ".join([*tokens[start : mention.start], ""]))
            marked = " ".join(tokens[mention.start : mention.end])
            text.append(f"{marked}{'*' if wrong else ''}", style=f"{_STYLES[wrong]} underline").append(" ")
            start = mention.end
        return text.append(" ".join(tokens[start:]))


def _listed(objects: tuple[str, ...]) -> str:
    return ", ".join(map(numbers.plain, objects)) or "none"
