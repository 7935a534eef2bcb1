"""References and Captions: their shape, their layers, and selections of them."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.data import Captions, References
from captious.errors import ParameterError
from tests.data.conftest import Refuses


class Words:
    """A layer that counts how often it is computed: words of references, words that no reference has."""

    def __init__(self, key: str = "words") -> None:
        self._key = key
        self.calls: list[str] = []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def of_references(self, references: References) -> frozenset[str]:
        self.calls.append("references")
        return frozenset(word for text in references.texts for word in text.split())

    def of_candidates(self, captions: Captions, references: frozenset[str]) -> list[set[str]]:
        self.calls.append("candidates")
        return [set(text.split()) - references for text in captions.candidates]


def three_images() -> References:
    return References((7, "b", 9), ("a cat", "the cat", "a dog", "x", "y", "z"), np.array([0, 2, 3, 6]))


def test_captions_are_a_ragged_table() -> None:
    references = three_images()
    assert len(references) == 3
    assert references.offsets.dtype == np.int64
    assert repr(references) == "<References 'references': 3 images, 6 references>"
    captions = Captions(("p", "q", "r"), references)
    assert captions.ids == references.ids
    assert len(captions) == 3
    assert repr(captions).startswith("<Captions: 3 candidates with <References")


def test_captions_are_immutable() -> None:
    references = three_images()
    captions = Captions(("p", "q", "r"), references)
    with pytest.raises(FrozenInstanceError):
        references.ids = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        captions.candidates = ()  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        references.offsets[0] = 1


def test_offsets_are_its_own() -> None:
    offsets = np.array([0, 1])
    references = References((1,), ("a",), offsets)
    offsets[1] = 5
    assert references.offsets.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("ids", "texts", "offsets", "problem"),
    [
        ((1, 1), ("a", "b"), [0, 1, 2], "duplicate"),
        ((1, 2), ("a", "b"), [0, 2], "offsets do not match 2 images with 2 references"),
        ((1, 2), ("a", "b"), [0, 1, 3], "offsets do not match"),
        ((1, 2), ("a", "b"), [1, 1, 2], "offsets do not match"),
        ((1, 2), ("a", "b"), [0, 2, 2], "no references"),
    ],
)
def test_inconsistent_references_are_refused(
    refuses: Refuses, ids: tuple[int, ...], texts: tuple[str, ...], offsets: list[int], problem: str
) -> None:
    with refuses(ParameterError, problem):
        References(ids, texts, np.array(offsets))


def test_captions_need_one_candidate_per_image(refuses: Refuses) -> None:
    with refuses(ParameterError, "2 candidates for 3 images"):
        Captions(("p", "q"), three_images())


def test_a_layer_is_computed_once() -> None:
    references, layer = three_images(), Words()
    one, two = Captions(("a fox", "q", "r"), references), Captions(("a hen", "q", "r"), references)
    candidate_side, reference_side = one.layer(layer)
    assert candidate_side[0] == {"fox"}
    assert "cat" in reference_side
    assert one.layer(layer)[0] is candidate_side
    assert references.layer(layer) is reference_side
    assert two.layer(layer)[1] is reference_side
    assert two.layer(layer)[0][0] == {"hen"}
    assert layer.calls == ["references", "candidates", "candidates"]

    other = Words("other")
    assert references.layer(other) is not reference_side
    assert references.layer(Words("other")) is references.layer(other)


def test_select_keeps_the_given_images_in_order() -> None:
    captions = Captions(("p", "q", "r"), three_images(), n_candidates_left_out=4)
    picked = captions.select([2, 0])
    assert picked.ids == (9, 7)
    assert picked.candidates == ("r", "p")
    assert picked.references.texts == ("x", "y", "z", "a cat", "the cat")
    assert picked.references.offsets.tolist() == [0, 3, 5]
    assert picked.n_candidates_left_out == 4
    assert captions.select([True, False, False]).ids == (7,)
    assert captions.select([-1]).ids == (9,)


def test_references_of_images_can_be_chosen_and_left_out() -> None:
    table = three_images()
    chosen = table.choose([[5, 3], [0]], [2, 0])
    assert (chosen.ids, chosen.texts, chosen.offsets.tolist()) == ((9, 7), ("z", "x", "a cat"), [0, 2, 3])
    left = table.leave_out([1, 4], [0, 2])
    assert (left.ids, left.texts, left.offsets.tolist()) == ((7, 9), ("a cat", "x", "z"), [0, 1, 3])
    with pytest.raises(ParameterError, match="an image has no references"):
        table.leave_out([1, 2, 4])


def test_select_everything_is_the_same_object() -> None:
    captions = Captions(("p", "q", "r"), three_images())
    assert captions.select([0, 1, 2]) is captions
    assert captions.references.select([True, True, True]) is captions.references


def test_empty_selection_is_allowed() -> None:
    nothing = Captions(("p", "q", "r"), three_images()).select([])
    assert len(nothing) == 0
    assert nothing.references.offsets.tolist() == [0]
    assert nothing.select([]) is nothing


def test_a_selection_has_its_own_layers() -> None:
    captions, layer = Captions(("p", "q", "r"), three_images()), Words()
    captions.layer(layer)
    assert captions.select([1]).layer(layer)[1] == {"a", "dog"}


def test_selection_of_unknown_images_is_an_error(refuses: Refuses) -> None:
    with pytest.raises(IndexError):
        three_images().select([3])
    with refuses(ParameterError, "duplicate"):
        three_images().select([1, 1])


@given(st.lists(st.lists(st.text(max_size=3), min_size=1, max_size=3), min_size=1, max_size=6), st.data())
def test_selecting_twice_is_selecting_once(lists: list[list[str]], data: st.DataObject) -> None:
    references = References(
        tuple(range(len(lists))),
        tuple(text for texts in lists for text in texts),
        np.cumsum([0, *map(len, lists)]),
    )
    first = data.draw(st.permutations(range(len(lists))))
    second = data.draw(st.lists(st.sampled_from(range(len(lists))), unique=True))
    twice, once = references.select(first).select(second), references.select([first[row] for row in second])
    assert twice.ids == once.ids == tuple(first[row] for row in second)
    assert twice.texts == once.texts == tuple(text for image in once.ids for text in lists[int(image)])
    assert twice.offsets.tolist() == once.offsets.tolist()


def test_captions_pickle_without_layers() -> None:
    captions = Captions(("p", "q", "r"), three_images())
    copy = pickle.loads(pickle.dumps(captions))
    assert (copy.ids, copy.candidates, copy.references.texts) == (
        captions.ids,
        captions.candidates,
        captions.references.texts,
    )


def test_rows_can_be_captions_of_one_image(refuses: Refuses) -> None:
    references = References(
        ("7|a", "7|b", "8|c"), ("one", "two", "three"), np.arange(4), id_form="text", images=("7", "7", "8")
    )
    assert references.select([2, 0]).images == ("8", "7")
    assert references.with_numbers_for_ids.images == (7, 7, 8)
    assert references.concatenated.images == ("7", "7", "8")
    assert three_images().images == three_images().ids
    with refuses(ParameterError, "1 image for 2 ids"):
        References((1, 2), ("a", "b"), np.arange(3), images=(1,))
