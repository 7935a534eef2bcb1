"""Several candidates per image: read in every form, matched by image, and seen one candidate at a time."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from captious.data import CaptionSets, read_captions, read_references
from captious.errors import (
    DuplicateCandidateError,
    MissingCandidatesError,
    ParameterError,
    UnknownImageError,
)
from tests.data.conftest import Refuses, Write
from tests.support.corpora import references_table

REFERENCES = {7: ["a cat", "the cat"], 9: ["a dog"], 8: ["a cow"]}
SETS = {8: ["cow"], 7: ["cat", "a cat", ""], 9: ["dog", "dog"]}
IN_ORDER = [["cat", "a cat", ""], ["dog", "dog"], ["cow"]]
ROWS = [(8, "cow"), (7, "cat"), (9, "dog"), (7, "a cat"), (9, "dog"), (7, "")]


def test_sets_are_read_from_mappings_and_records() -> None:
    sets = read_captions(SETS, REFERENCES, several="mean")
    assert sets.ids == (7, 9, 8)
    assert sets.texts == IN_ORDER
    assert sets.counts.tolist() == [3, 2, 1]
    records = [{"image_id": image, "caption": text} for image, text in ROWS]
    assert read_captions(records, REFERENCES, several="mean").texts == IN_ORDER
    lists = [{"image_id": image, "candidates": texts} for image, texts in SETS.items()]
    assert read_captions(lists, REFERENCES, several="mean").texts == IN_ORDER
    toolkit = {image: [{"caption": text} for text in texts] for image, texts in SETS.items()}
    assert read_captions(toolkit, REFERENCES, several="mean").texts == IN_ORDER


def test_sets_are_read_from_files(write: Write) -> None:
    contents = {
        "results.json": "[" + ", ".join(f'{{"image_id": {image}, "caption": "{text}"}}' for image, text in ROWS) + "]",
        "object.json": '{"8": ["cow"], "7": ["cat", "a cat", ""], "9": ["dog", "dog"]}',
        "lists.jsonl": '{"id": 8, "captions": ["cow"]}\n{"id": 7, "captions": ["cat", "a cat", ""]}\n'
        '{"id": 9, "captions": ["dog", "dog"]}\n',
        "rows.csv": "image_id,caption\n" + "".join(f'{image},"{text}"\n' for image, text in ROWS),
    }
    for name, content in contents.items():
        assert read_captions(write(name, content), REFERENCES, several="mean").texts == IN_ORDER, name


def test_sets_are_read_from_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    long = pandas.DataFrame({"image_id": [image for image, _ in ROWS], "caption": [text for _, text in ROWS]})
    wide = pandas.DataFrame({"image_id": [*SETS], "captions": [*SETS.values()]})
    assert (
        read_captions(long, REFERENCES, several="mean").texts
        == read_captions(wide, REFERENCES, several="mean").texts
        == IN_ORDER
    )


def test_sets_are_read_from_lists_by_position() -> None:
    sets = read_captions([["a", "b"], ["c"]], [["x"], ["y", "z"]], several="mean")
    assert sets.texts == [["a", "b"], ["c"]]
    with pytest.raises(ParameterError, match="2 candidates by position, but references for 1 image"):
        read_captions([["a", "b"], ["c"]], [["x"]], several="mean")


def test_single_candidates_are_sets_of_one() -> None:
    assert read_captions({7: "cat", 9: "dog", 8: "cow"}, REFERENCES, several="mean").texts == [
        ["cat"],
        ["dog"],
        ["cow"],
    ]


@pytest.mark.parametrize("candidates", [SETS, [{"image_id": image, "caption": text} for image, text in ROWS]])
def test_several_candidates_need_the_option(candidates: Any, refuses: Refuses) -> None:
    with refuses(DuplicateCandidateError, "2 of 3 images have more than one candidate", 'several="mean"'):
        read_captions(candidates, REFERENCES)


def test_errors_of_sets_name_the_image() -> None:
    with pytest.raises(MissingCandidatesError, match="1 of 3 images has an empty list"):
        read_captions({**SETS, 9: []}, REFERENCES, several="mean")
    with pytest.raises(MissingCandidatesError, match="1 of 3 images has references but no candidate"):
        read_captions({7: ["a"], 9: ["b"]}, REFERENCES, several="mean")
    with pytest.raises(UnknownImageError, match="2 of 8 candidates are for images that have no references") as caught:
        read_captions({**SETS, 1: ["a", "b"]}, REFERENCES, several="mean")
    assert caught.value.where == "candidates: image_id 1"


def test_subset_counts_excluded_candidates() -> None:
    sets = read_captions({7: ["a", "b"], 1: ["c", "d", "e"]}, REFERENCES, match="common", several="mean")
    assert sets.texts == [["a", "b"]]
    assert (sets.n_candidates_left_out, sets.n_references_left_out) == (3, 2)


def test_candidates_and_references_have_the_same_images() -> None:
    with pytest.raises(ParameterError, match="do not have the same images"):
        CaptionSets(references_table([["a"]]), references_table([["b"]], first_id=1))


def test_slots_show_every_candidate_once() -> None:
    sets = read_captions(SETS, REFERENCES, several="mean")
    by_number = {}
    for slot in sets.slots:
        for row, number in zip(slot.rows.tolist(), slot.candidates.tolist(), strict=True):
            assert number not in by_number
            by_number[number] = (slot.captions.ids[row], slot.captions.candidates[row])
    flat = [(image, text) for image, texts in zip(sets.ids, sets.texts, strict=True) for text in texts]
    assert [by_number[number] for number in range(6)] == flat


def test_slots_share_the_references() -> None:
    sets = read_captions({image: ["a", "b", "c"] for image in REFERENCES}, REFERENCES, several="mean")
    assert all(slot.captions.references is sets.references for slot in sets.slots)
    # An image with many candidates takes a table of its own, which the further slots share.
    rest = {image: ["a"] for image in range(10)}
    many = read_captions({**rest, 0: ["a", *"bcdefg"]}, {image: ["x"] for image in range(10)}, several="mean")
    assert len(many.slots) == 7
    assert many.slots[0].captions.references is many.references
    assert {len(slot.captions) for slot in many.slots[1:]} == {1}
    assert len({id(slot.captions.references) for slot in many.slots[1:]}) == 1


def test_selections_and_copies_keep_candidates() -> None:
    sets = read_captions(SETS, REFERENCES, several="mean")
    assert sets.select([0, 1, 2]) is sets
    part = sets.select([2, 0])
    assert (part.ids, part.texts) == ((8, 7), [["cow"], ["cat", "a cat", ""]])
    assert len(sets.slots) == 3
    copy = pickle.loads(pickle.dumps(sets))
    assert copy.texts == sets.texts
    assert "slots" not in copy.__dict__
    joined = sets.concatenated
    assert joined.texts == sets.texts
    assert joined.references.texts[0] == "a cat the cat"


def test_text_ids_of_sets_match_numbers(write: Write) -> None:
    path = write("object.json", '{"7": ["a", "b"]}')
    table = read_references({7: ["x"]})
    sets = read_captions(path, table, several="mean")
    assert sets.references is table
    assert sets.candidates.ids == (7,)
    np.testing.assert_array_equal(sets.candidates.offsets, [0, 2])
