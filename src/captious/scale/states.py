"""States of metrics that are fitted shard by shard: merged, written to files and read back.

Metrics often share a state: CIDEr, CIDEr-D and SPIDEr weight n-grams by the same document frequencies. A tuple of
states is therefore stored as its distinct states (leaves) and a shape that refers to them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from captious.errors import ParameterError, ResourceError
from captious.files.atomic_write import whole_file
from captious.metrics.contract.combined import CombinedState
from captious.metrics.contract.metric import State
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies, FrequencySum

#: The state of each metric of a plan, None for those that need none.
States: TypeAlias = tuple[State | None, ...]

#: The file that says that all states of a folder are there.
INDEX = "states.json"


class MergedStates:
    """The states of all shards together. The result does not depend on the order in which they are added."""

    def __init__(self) -> None:
        self._shape: list[Any] | None = None
        self._leaves: list[State | FrequencySum] = []

    def add(self, states: Sequence[State | None]) -> None:
        """Add the states of a part."""
        shape, leaves = _taken_apart(states)
        if self._shape is None:
            self._shape = shape
            self._leaves = [_total(leaf) for leaf in leaves]
            return
        assert shape == self._shape, "states of different metrics"
        for number, leaf in enumerate(leaves):
            merged = self._leaves[number]
            if isinstance(merged, FrequencySum):
                merged.add(leaf)
            else:
                self._leaves[number] = merged.merge(leaf)

    @property
    def states(self) -> States:
        """The merged states."""
        leaves = [leaf.total if isinstance(leaf, FrequencySum) else leaf for leaf in self._leaves]
        return _put_together(self._shape or [], leaves)


def _total(leaf: State) -> State | FrequencySum:
    """Return an object to which leaves of other parts are added: document frequencies have a sum, which is faster."""
    if not isinstance(leaf, DocumentFrequencies):
        return leaf
    total = FrequencySum()
    total.add(leaf)
    return total


def _taken_apart(states: Sequence[State | None]) -> tuple[list[Any], list[State]]:
    """Return the shape of states (None, the number of a leaf, or the list of a combined state) and the leaves."""
    leaves: list[State] = []
    return [_shape_of(state, leaves) for state in states], leaves


# Not functions within functions: one that calls itself is a cycle, which would keep large tables alive for a while.
def _shape_of(state: State | None, leaves: list[State]) -> Any:
    if state is None:
        return None
    if isinstance(state, CombinedState):
        return [_shape_of(part, leaves) for part in state.states]
    for number, leaf in enumerate(leaves):
        if leaf is state:
            return number
    leaves.append(state)
    return len(leaves) - 1


def _put_together(shape: Sequence[Any], leaves: Sequence[State]) -> States:
    return tuple(_state_of(part, leaves) for part in shape)


def _state_of(part: Any, leaves: Sequence[State]) -> State | None:
    if part is None:
        return None
    return CombinedState(_put_together(part, leaves)) if isinstance(part, list) else leaves[part]


def compact_states(states: Sequence[State | None]) -> States:
    """Return equivalent states that take less memory, but can no longer be merged."""
    shape, leaves = _taken_apart(states)
    return _put_together(
        shape, [leaf.without_singles() if isinstance(leaf, DocumentFrequencies) else leaf for leaf in leaves]
    )


def can_be_saved(states: Sequence[State | None]) -> bool:
    """Return whether ``save_states`` can write these states."""
    return all(isinstance(leaf, DocumentFrequencies) for leaf in _taken_apart(states)[1])


def save_states(folder: Path, states: Sequence[State | None]) -> None:
    """Write states to a new folder, which is complete once it has an index.

    Raises:
        ParameterError: a state that cannot be written.
        OutputError: a file cannot be written.
    """
    shape, leaves = _taken_apart(states)
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for number, leaf in enumerate(leaves):
        if not isinstance(leaf, DocumentFrequencies):
            raise ParameterError(
                f"the state {leaf.label} cannot be written to a file",
                help="score without an output folder, or give it the fitted values, for example idf=FILE",
            )
        leaf.save(folder / f"{number}.idf")
        names.append(leaf.name)
    with whole_file(folder / INDEX) as file:
        json.dump({"shape": shape, "names": names}, file)


def load_states(folder: Path) -> States | None:
    """Read states that ``save_states`` wrote; None if they are incomplete.

    Raises:
        ResourceError: a damaged file.
    """
    index = folder / INDEX
    if not index.exists():
        return None
    try:
        document = json.loads(index.read_text())
        names = document["names"]
        leaves = [
            replace(DocumentFrequencies.load(folder / f"{i}.idf"), name=str(name)) for i, name in enumerate(names)
        ]
        return _put_together(document["shape"], leaves)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise ResourceError(
            f"these states are damaged: {error}", where=str(folder), help="remove the folder; they are counted again"
        ) from error
