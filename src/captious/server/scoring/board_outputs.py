"""The outputs and reference sets that a board shows: those of its phase at the time of its scoring version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from captious.server.models import Phase


class ReferenceSet(NamedTuple):
    """A reference set of a board: the captions file that it judges, and its name."""

    captions: str
    name: str


@dataclass(frozen=True)
class BoardOutputs:
    """The outputs of a phase in one version of a challenge, for as long as its board shows scores of that version.

    Args:
        directions: output -> whether lower scores are better, in the order of the columns; None if neither are.
        rank_by: the output that ranks.
        sets: key -> reference set, in the order of the challenge's folder.
        counts: key of a reference set -> number of images.
    """

    directions: dict[str, bool | None]
    rank_by: str
    sets: dict[str, ReferenceSet]
    counts: dict[str, int]

    @classmethod
    def of_challenge(cls, phase: Phase) -> BoardOutputs:
        """The outputs of the current version of the challenge."""
        definition, counts = phase.challenge.definition, phase.challenge.counts
        sets = _current_sets(phase)
        return cls(definition.directions, definition.rank_by, sets, {key: counts[key] for key in sets})

    @classmethod
    def of_board(cls, phase: Phase) -> BoardOutputs:
        """The outputs on the board of a phase."""
        values = phase.board_values
        sets = {key: ReferenceSet(captions, name) for key, captions, name in values["sets"]}
        return cls(dict(values["directions"]), values["rank_by"], sets, values["counts"])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.directions)

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        """The outputs where lower scores are better."""
        return tuple(name for name, lower in self.directions.items() if lower)

    @property
    def main_set(self) -> str:
        """The key of the set that is shown unless another is asked for: the first of the last captions file.

        The last captions file is usually the one that counts: val2014 before test2014. Empty if there are no sets.
        """
        captions = [row.captions for row in self.sets.values()]
        return next((key for key, row in self.sets.items() if row.captions == captions[-1]), "")

    def to_values(self) -> dict[str, Any]:
        """Plain values, for ``Phase.board_values``. Databases may sort the keys of objects, but no lists."""
        return {
            "directions": [*map(list, self.directions.items())],
            "rank_by": self.rank_by,
            "sets": [[key, *row] for key, row in self.sets.items()],
            "counts": self.counts,
        }


def sets_of(phase: Phase) -> dict[str, ReferenceSet]:
    """The reference sets with which submissions of a phase may have scores: those of its board, then new ones."""
    return BoardOutputs.of_board(phase).sets | _current_sets(phase)


def _current_sets(phase: Phase) -> dict[str, ReferenceSet]:
    return {key: ReferenceSet(row.captions, row.name) for key, row in phase.reference_sets.items()}
