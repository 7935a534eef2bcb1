"""The outputs that a board shows: those of the challenge when the board's version was scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from captious.server.models import Challenge, Phase

__all__ = ["BoardOutputs"]


@dataclass(frozen=True)
class BoardOutputs:
    """What a challenge says about its outputs, as long as the board of a phase shows scores of that version.

    Args:
        directions: output -> whether lower scores are better, in the order of the columns; None if neither are.
        rank_by: the output that ranks.
        counts: key of a reference set -> number of images.
    """

    directions: dict[str, bool | None]
    rank_by: str
    counts: dict[str, int]

    @classmethod
    def of_challenge(cls, challenge: Challenge) -> BoardOutputs:
        """As the challenge is now."""
        definition = challenge.definition
        return cls(definition.directions, definition.rank_by, dict(challenge.counts))

    @classmethod
    def of_board(cls, phase: Phase) -> BoardOutputs:
        """As the board of a phase shows them."""
        values = phase.board_values
        return cls(dict(values["directions"]), values["rank_by"], values["counts"])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.directions)

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        """The outputs of which lower scores are better."""
        return tuple(name for name, lower in self.directions.items() if lower)

    def to_values(self) -> dict[str, Any]:
        """Plain values, for ``Phase.board_values``. Databases may sort the keys of objects, but no lists."""
        return {"directions": [*map(list, self.directions.items())], "rank_by": self.rank_by, "counts": self.counts}
