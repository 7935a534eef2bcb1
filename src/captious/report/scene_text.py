"""Scene graphs as text: the tuples of the candidate, each next to the tuples of the references that it matches.

candidate      references
dog         =  dog
sofa        ≈  couch/settee    sofa ≈ couch
(dog, two)
               (dog, large)
"""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from captious.report import numbers
from captious.scenes.spice_explanation import Names, SceneExplanation, SceneFact

__all__ = ["named", "scene_text"]

#: Sign, color and meaning of a match.
_SAME, _SYNONYMS = ("=", "green", "same names"), ("≈", "yellow", "synonyms")


def scene_text(explanation: SceneExplanation) -> RenderableType:
    """The scene graphs of a candidate and of its references."""
    table = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    for head in ("candidate", "", "references", ""):
        table.add_column(head, overflow="fold")
    for fact in explanation.candidate:
        table.add_row(*_row(fact))
    for names, is_met in explanation.references:
        if not is_met:
            table.add_row("", "", Text(_written(names), "dim"), "")
    matches = [fact for fact in explanation.candidate if fact.match is not None]
    n, m = len(explanation.candidate), len(explanation.references)
    parts = [
        f"{len(matches)} of {n} tuple{'' if n == 1 else 's'} match{'es' if n == 1 else ''}; "
        f"the references have {m} tuple{'' if m == 1 else 's'}",
        f"precision {numbers.score(explanation.precision)}",
        f"recall {numbers.score(explanation.recall)}",
        f"score {numbers.score(explanation.score)}",
    ]
    signs = {_sign(fact) for fact in matches}
    legend = Text("  ").join(
        Text.assemble((sign, color), f" {meaning}")
        for sign, color, meaning in (_SAME, _SYNONYMS)
        if (sign, color) in signs
    )
    body = Group(table, Text(" · ".join(parts)), *([Text(), legend] if signs else []))
    return Padding(body, (0, 0, 0, 2), expand=False)


def _row(fact: SceneFact) -> tuple[Text, Text, Text, Text]:
    if fact.match is None:
        return Text(_written(fact.names), "dim"), Text(), Text(), Text()
    several = [len(ours) > 1 or len(theirs) > 1 for ours, theirs in zip(fact.names, fact.match, strict=True)]
    pairs = dict.fromkeys(
        pair for pair, unclear in zip(fact.through, several, strict=True) if unclear and pair[0] != pair[1]
    )
    through = ", ".join(f"{_name(ours)} {_SYNONYMS[0]} {_name(theirs)}" for ours, theirs in pairs)
    sign, color = _sign(fact)
    return Text(_written(fact.names)), Text(sign, color), Text(_written(fact.match)), Text(through, color)


def _sign(fact: SceneFact) -> tuple[str, str]:
    sign, color, _ = _SAME if all(ours == theirs for ours, theirs in fact.through) else _SYNONYMS
    return sign, color


def named(names: tuple[str, ...]) -> str:
    """What a thing is called; slashes between several names."""
    return "/".join(map(_name, names))


def _written(names: Names) -> str:
    """A tuple as people write it: dog, (dog, two), (dog, sit on, sofa)."""
    parts = [named(of_one) for of_one in names]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _name(name: str) -> str:
    return numbers.plain(name).strip()
