"""Scene graphs as text: the tuples of the candidate, each next to the tuples of the references that it matches.

candidate      references
dog         =  dog
sofa        ≈  couch/settee    sofa ≈ couch
(dog, two)
               (dog, large)
"""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from captious.report import numbers
from captious.scenes.spice_explanation import Names, SceneExplanation, SceneFact

__all__ = ["ScenePicture", "named"]

#: Sign, colour and meaning of a match.
_SAME, _SYNONYMS = ("=", "green", "same names"), ("≈", "yellow", "synonyms")


class ScenePicture:
    """The scene graphs of a candidate and of its references, which rich can print.

    Args:
        explanation: what to show.
    """

    def __init__(self, explanation: SceneExplanation) -> None:
        self.explanation = explanation

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.explanation
        table = Table(box=None, header_style="", padding=(0, 2, 0, 0))
        for head in ("candidate", "", "references", ""):
            table.add_column(head, overflow="fold")
        for fact in found.candidate:
            table.add_row(*_row(fact))
        for names, is_met in found.references:
            if not is_met:
                table.add_row("", "", Text(_written(names), "dim"), "")
        matches = sum(fact.match is not None for fact in found.candidate)
        parts = [
            f"{matches} of {len(found.candidate)} tuple{'' if len(found.candidate) == 1 else 's'} "
            f"match{'es' if len(found.candidate) == 1 else ''}; the references have {len(found.references)} "
            f"tuple{'' if len(found.references) == 1 else 's'}",
            f"precision {numbers.score(found.precision)}",
            f"recall {numbers.score(found.recall)}",
            f"score {numbers.score(found.score)}",
        ]
        body: list[Table | Text] = [table, Text(" · ".join(parts))]
        if legend := self._legend():
            body += [Text(), legend]
        yield Padding(Group(*body), (0, 0, 0, 2), expand=False)

    def _legend(self) -> Text:
        """What the signs that occur mean."""
        used = {_sign(fact) for fact in self.explanation.candidate if fact.match is not None}
        parts = [
            Text.assemble((sign, colour), f" {meaning}")
            for sign, colour, meaning in (_SAME, _SYNONYMS)
            if (sign, colour) in used
        ]
        return Text("  ").join(parts)


def _row(fact: SceneFact) -> tuple[Text, Text, Text, Text]:
    if fact.match is None:
        return Text(_written(fact.names), "dim"), Text(), Text(), Text()
    several = [len(ours) > 1 or len(theirs) > 1 for ours, theirs in zip(fact.names, fact.match, strict=True)]
    pairs = dict.fromkeys(
        pair for pair, unclear in zip(fact.through, several, strict=True) if unclear and pair[0] != pair[1]
    )
    through = ", ".join(f"{_name(ours)} {_SYNONYMS[0]} {_name(theirs)}" for ours, theirs in pairs)
    sign, colour = _sign(fact)
    return Text(_written(fact.names)), Text(sign, colour), Text(_written(fact.match)), Text(through, colour)


def _sign(fact: SceneFact) -> tuple[str, str]:
    sign, colour, _ = _SAME if all(ours == theirs for ours, theirs in fact.through) else _SYNONYMS
    return sign, colour


def named(names: tuple[str, ...]) -> str:
    """What a thing is called; slashes between several names."""
    return "/".join(map(_name, names))


def _written(names: Names) -> str:
    """A tuple as people write it: dog, (dog, two), (dog, sit on, sofa)."""
    parts = [named(of_one) for of_one in names]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _name(name: str) -> str:
    return numbers.plain(name).strip()
