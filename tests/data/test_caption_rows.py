"""Checks of every form: ids, captions, duplicates; and counts in messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from captious.data import read_rows
from captious.data.rows import image_list
from captious.errors import CaptionTypeError, DuplicateCandidateError, EncodingError, MissingCandidatesError
from tests.data.conftest import Refuses, Write


def test_text_ids_are_quoted() -> None:
    assert image_list([7, "7"]) == "image_id 7, '7'"


@pytest.mark.parametrize("wrong", [True, 1.5, None, float("nan"), (1, 2), np.float32(1), np.bool_(True), b"x"])
def test_ids_are_integers_or_strings(refuses: Refuses, wrong: Any) -> None:
    with refuses(
        CaptionTypeError, "1 of 2 image ids has another type than integer or string", "candidates: index 1", "id"
    ):
        read_rows([{"id": 3, "caption": "a"}, {"id": wrong, "caption": "b"}], "candidates")


@pytest.mark.parametrize("wrong", [None, 5, 1.5, float("nan"), True, b"a cat"])
def test_captions_are_strings(refuses: Refuses, wrong: Any) -> None:
    with refuses(CaptionTypeError, "1 of 2 captions is not text", "candidates: key 9 (image_id 9) is", "string"):
        read_rows({7: "a", 9: wrong}, "candidates")
    with refuses(CaptionTypeError, "1 of 3 captions is not text", "references: key 9 (image_id 9) is"):
        read_rows({7: ["a"], 9: ["b", wrong]}, "references")


def test_only_the_first_wrong_ones_are_shown(refuses: Refuses) -> None:
    with refuses(CaptionTypeError, "20 of 20 captions", "key 2 (image_id 2) is None and 17 more"):
        read_rows(dict.fromkeys(range(20)), "candidates")


def test_lone_surrogates_are_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.jsonl", '{"id": 1, "caption": "caf\u00e9"}\n{"id": 2, "caption": "a \\ud800 cat"}')
    with refuses(EncodingError, "1 of 2 captions contains a lone surrogate", f"{path}: line 2", "write the full"):
        read_rows(path, "candidates")
    with refuses(EncodingError, "1 of 2 image ids contains a lone surrogate", "key '\\udc00'"):
        read_rows({"a": "b", "\udc00": "c"}, "candidates")


def test_list_of_several_candidates_is_refused(refuses: Refuses) -> None:
    with refuses(DuplicateCandidateError, "1 of 2 images", "candidates: key 9 has 2", "one candidate per image"):
        read_rows({7: ["a"], 9: ["a", "b"]}, "candidates")
    with refuses(MissingCandidatesError, "1 of 2 images", "candidates: key 9", 'match="common"'):
        read_rows({7: ["a"], 9: []}, "candidates")


def test_an_empty_list_of_references_is_known() -> None:
    rows = read_rows({7: [], 9: ["a"]}, "references")
    assert (rows.ids, rows.known_images) == ((9,), (7,))
