"""Candidates meet references: by id, in the order of the references, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from captious.data import Match, read_captions, read_references, read_rows
from captious.errors import (
    MissingCandidatesError,
    MissingReferencesError,
    ParameterError,
    UnknownImageError,
    UnknownNameError,
)
from tests.data.conftest import Refuses, Write

REFERENCES = {7: ["a cat", "the cat"], 9: ["a dog"], 8: ["a cow"]}


def test_rows_come_in_the_order_of_the_references() -> None:
    captions = read_captions({8: "cow", 7: "cat", 9: "dog"}, REFERENCES)
    assert captions.ids == (7, 9, 8)
    assert captions.candidates == ("cat", "dog", "cow")
    assert captions.references.texts == ("a cat", "the cat", "a dog", "a cow")
    assert captions.references.offsets.tolist() == [0, 2, 3, 4]
    assert (captions.n_candidates_left_out, captions.n_references_left_out) == (0, 0)


def test_references_are_gathered_by_image() -> None:
    rows = [(7, "a"), (9, "b"), (7, "c"), (8, "d"), (9, "e")]
    references = read_references([{"image_id": image, "caption": text} for image, text in rows])
    assert references.ids == (7, 9, 8)
    assert references.texts == ("a", "c", "b", "e", "d")
    assert references.offsets.tolist() == [0, 2, 4, 5]


def test_systems_share_references() -> None:
    references = read_references(REFERENCES)
    one, two = read_captions({7: "a", 9: "b", 8: "c"}, references), read_captions({9: "d", 8: "e", 7: "f"}, references)
    assert one.references is two.references is references
    part = read_captions({9: "d"}, references, match="common")
    assert part.references.ids == (9,)


def test_systems_share_references_whose_ids_were_read_as_numbers(write: Write) -> None:
    references = read_references(write("r.json", '{"7": ["a cat"], "9": ["a dog"], "012": ["a cow"]}'))
    one = read_captions({7: "a", 9: "b"}, references, match="common")
    assert one.ids == (7, 9)
    references = read_references(write("r.json", '{"7": ["a cat"], "9": ["a dog"]}'))
    one, two = read_captions({7: "a", 9: "b"}, references), read_captions({9: "c", 7: "d"}, references)
    assert one.references is two.references
    assert one.ids == (7, 9)


def test_captions_that_were_loaded_are_loaded_again() -> None:
    captions = read_captions({8: "cow", 7: "cat", 9: "dog"}, REFERENCES)
    assert read_references(captions.references) is captions.references
    assert read_captions(captions) is read_captions(captions, None) is captions
    again = read_captions(captions, {9: ["the dog"], 8: ["the cow"], 7: ["the cat"]})
    assert (again.ids, again.candidates) == ((9, 8, 7), ("dog", "cow", "cat"))
    assert again.references.texts == ("the dog", "the cow", "the cat")
    sets = read_captions(captions, several="mean")
    assert sets.texts == [["cat"], ["dog"], ["cow"]]
    assert read_captions(sets, several="mean") is sets
    assert read_captions(sets, REFERENCES).candidates == captions.candidates


def test_candidates_are_read_without_references() -> None:
    captions = read_captions({8: "cow", 7: "cat"})
    assert (captions.ids, captions.references.present) == ((8, 7), False)
    with pytest.raises(UnknownImageError, match="the systems do not have the same images"):
        read_captions({8: "cow"}, captions.references)


def test_captions_by_position_match_lists() -> None:
    captions = read_captions(["a cat", "a dog"], [["the cat"], ["the dog"]])
    assert read_captions(captions, [["cats"], ["dogs"]]).references.texts == ("cats", "dogs")


def test_unknown_images_are_refused(refuses: Refuses, write: Write) -> None:
    path = write("results.json", '{"7": "a", "900100": "b", "900101": "c", "900102": "d", "9": "e", "8": "f"}')
    with refuses(
        UnknownImageError,
        "3 of 6 candidates are for images that have no references\n",
        f"{path}: image_id 900100, 900101, 900102\n",
        'is this the right reference file? To score the images that both files share: match="common"',
    ):
        read_captions(path, REFERENCES)


def test_missing_candidates_are_refused(refuses: Refuses) -> None:
    with refuses(MissingCandidatesError, "2 of 3 images", "references: image_id 7, 8", 'match="common"'):
        read_captions({9: "a"}, REFERENCES)


def test_many_ids_are_cut_short(refuses: Refuses) -> None:
    references = {image: ["a"] for image in range(1000)}
    with refuses(MissingCandidatesError, "999 of 1,000", "image_id 1, 2, 3 and 996 more"):
        read_captions({0: "a"}, references)


def test_subset_keeps_common_images() -> None:
    captions = read_captions({8: "cow", 5: "hen", 7: "cat", 6: "pig"}, {**REFERENCES, 4: []}, match="common")
    assert captions.ids == (7, 8)
    assert captions.candidates == ("cat", "cow")
    assert (captions.n_candidates_left_out, captions.n_references_left_out) == (2, 1)


@pytest.mark.parametrize("match", ["all", "common"])
def test_disjoint_images_are_refused(refuses: Refuses, match: Match) -> None:
    with refuses(
        UnknownImageError, "none of the 2 candidates", "candidates: image_id 1, 2; references: image_id 7, 9, 8"
    ):
        read_captions({1: "a", 2: "b"}, REFERENCES, match=match)


@pytest.mark.parametrize(
    "references",
    [
        {7: ["a"], 9: []},
        '{"images": [{"id": 9}, {"id": 7}], "annotations": [{"image_id": 7, "caption": "a"}]}',
        [{"image_id": 7, "references": ["a"]}, {"image_id": 9, "references": []}],
    ],
)
def test_images_listed_without_references_are_refused(refuses: Refuses, write: Write, references: Any) -> None:
    if isinstance(references, str):
        references = write("references.json", references)
    with refuses(MissingReferencesError, "1 of 2 images has no references", ": image_id 9", 'match="common"'):
        read_captions({7: "a", 9: "b"}, references)
    captions = read_captions({7: "a", 9: "b"}, references, match="common")
    assert (captions.ids, captions.n_candidates_left_out) == ((7,), 1)


def test_an_image_with_an_empty_list_and_others_has_references() -> None:
    references = [{"image_id": 7, "references": []}, {"image_id": 7, "references": ["a"]}]
    assert read_captions({7: "a"}, references).ids == (7,)


@pytest.mark.parametrize(
    ("candidates", "references", "ids"),
    [
        ('{"7": "a", "-3": "b"}', {7: ["a"], -3: ["b"]}, (7, -3)),
        ('{"7": "a", "-3": "b"}', {"7": ["a"], "-3": ["b"]}, ("7", "-3")),
        ('[{"id": "7", "caption": "a"}]', {7: ["a"]}, (7,)),
        ('[{"id": 7, "caption": "a"}, {"id": "x", "caption": "b"}]', {"x": ["b"], "7": ["a"]}, ("x", 7)),
        ('{"7": "a", "-3": "b"}', '{"7": "a", "-3": "b"}', ("7", "-3")),
        ('[{"id": 7, "caption": "a"}]', '{"7": "a"}', (7,)),
        ('[{"id": "7", "caption": "a"}]', '{"7": "a"}', ("7",)),
        ('{"7": "a", "x": "b"}', {"7": ["a"], "x": ["b"]}, ("7", "x")),
    ],
)
def test_text_ids_match_numbers(write: Write, candidates: str, references: Any, ids: tuple[Any]) -> None:
    if isinstance(references, str):
        references = write("r.json", references)
    assert read_captions(write("c.json", candidates), references).ids == ids


@pytest.mark.parametrize("name", ["012", "+7", " 7", "7.0", "-0", "1_0", "\u0667", ""])
def test_names_with_digits_are_not_numbers(refuses: Refuses, write: Write, name: str) -> None:
    path = write("c.json", f'{{"{name}": "a", "7": "b"}}')
    with refuses(UnknownImageError, "1 of 2", f"image_id {name!r}"):
        read_captions(path, {7: ["a"], 12: ["b"]})


def test_positions_match_positions() -> None:
    captions = read_captions(["a", "b"], [["c", "d"], ["e"]])
    assert captions.ids == (0, 1)
    assert captions.references.texts == ("c", "d", "e")


def test_different_numbers_of_positions_are_refused(refuses: Refuses) -> None:
    matches: tuple[Match, ...] = ("all", "common")
    for match in matches:
        with refuses(ParameterError, "2 candidates by position, but references for 3 images"):
            read_captions(["a", "b"], [["c"], ["d"], ["e"]], match=match)


@pytest.mark.parametrize("options", [{"match": "some"}, {"match": True}, {"several": True}, {"several": ["all"]}])
def test_unknown_ways_to_match_and_score_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError, match=f"^{next(iter(options))} is "):
        read_captions(["a"], [["c"]], **options)


def test_position_without_references_is_excluded_by_subset(refuses: Refuses) -> None:
    with refuses(MissingReferencesError, "image_id 0"):
        read_captions(["a", "b"], [[], ["c"]])
    captions = read_captions(["a", "b"], [[], ["c"]], match="common")
    assert (captions.ids, captions.candidates) == ((1,), ("b",))


@pytest.mark.parametrize(("candidates", "references"), [(["a"], {0: ["b"]}), ({0: "a"}, [["b"]])])
def test_positions_do_not_match_ids(refuses: Refuses, candidates: Any, references: Any) -> None:
    with refuses(ParameterError, "only positions", "without ids: ", "{image_id: caption}"):
        read_captions(candidates, references)


def test_a_selection_has_no_positions(refuses: Refuses) -> None:
    references = read_references([["a"], ["b"], ["c"]]).select([2, 0])
    with refuses(ParameterError, "only positions"):
        read_captions(["x", "y"], references)
    assert read_captions({0: "x", 2: "y"}, references).candidates == ("y", "x")


def test_rows_of_references_are_no_candidates(refuses: Refuses) -> None:
    with refuses(ParameterError, 'read them with the role "candidates"'):
        read_captions(read_rows(REFERENCES, "references"), REFERENCES)
