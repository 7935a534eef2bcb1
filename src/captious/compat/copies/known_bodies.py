"""The known bodies of functions of toolkits: those that were published, and their variants in public repositories.

``known_bodies.tsv`` has one line for each, made by ``tools/known_bodies.py``: the unit, the digest of its normal form,
what it computes, where it stands, and a mark of every statement. A unit is a module of a published toolkit and the name
of a function in it, such as ``bleu_scorer.BleuScorer.compute_score``. It computes the ``same`` as the published
function, or the same under options, such as ``order=sorted``; several are joined by semicolons.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import NamedTuple

from captious.compat.copies.normal_form import Function


class Body(NamedTuple):
    """A known body.

    Attributes:
        unit: module of a published toolkit and name.
        options: what it computes otherwise than the published function: option -> value.
        marks: a mark of every statement.
    """

    unit: str
    options: dict[str, str]
    marks: tuple[str, ...]

    @property
    def role(self) -> str:
        """The module of the published toolkit."""
        return self.unit.partition(".")[0]

    @property
    def name(self) -> str:
        """The name of the function, without that of its class."""
        return self.unit.rpartition(".")[2]


@cache
def by_digest() -> dict[str, list[Body]]:
    """Return the known bodies by the digests of their normal forms."""
    bodies: dict[str, list[Body]] = {}
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        unit, digest, computes, _, marks = line.split("\t")
        options = {} if computes == "same" else dict(part.split("=", 1) for part in computes.split(";"))
        of_statements = tuple(marks[start : start + 4] for start in range(0, len(marks), 4))
        bodies.setdefault(digest, []).append(Body(unit, options, of_statements))
    return bodies


def nearest(function: Function, roles: Iterable[str]) -> tuple[float, int]:
    """Compare a function with the known bodies of its name.

    Args:
        function: the function.
        roles: modules of published toolkits that it may belong to.

    Returns:
        How much it has in common with the nearest one, 0 to 1, and the first line in which it differs from it.
    """
    name, roles, best = function.name.rpartition(".")[2], {*roles}, (0.0, function.line)
    bodies = (body for bodies in by_digest().values() for body in bodies)
    for marks in {body.marks for body in bodies if body.name == name and body.role in roles}:
        matcher = SequenceMatcher(None, marks, function.marks, autojunk=False)
        if matcher.ratio() > best[0]:
            changes = [start for kind, _, _, start, _ in matcher.get_opcodes() if kind != "equal"]
            place = min(changes[0] if changes else 0, len(function.statements) - 1)
            best = matcher.ratio(), function.statements[place].line
    return best
