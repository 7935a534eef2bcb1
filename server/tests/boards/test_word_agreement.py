"""Words of candidates that references have."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from captious_server.boards.captions import has_word, pieces

REFERENCES = ["Two dogs run.", "a dog on the beach", "The dog is running", "a brown animal"]


def marked(candidate: str) -> dict[str, tuple[str, int]]:
    return {piece.text: (piece.agreement, piece.count) for piece in pieces(candidate, REFERENCES) if piece.agreement}


def test_words_are_marked_by_their_number_of_references() -> None:
    assert marked("A brown dog runs, with a ball") == {
        "brown": ("some", 1),
        "dog": ("most", 3),
        "runs": ("most", 2),
        "ball": ("none", 0),
    }


def test_han_characters_are_words() -> None:
    assert [(piece.text, piece.count) for piece in pieces("\u72d7\u8dd1", ["\u4e00\u53ea\u72d7"])] == [
        ("\u72d7", 1),
        ("\u8dd1", 0),
    ]


def test_candidate_without_references_agrees_with_none() -> None:
    assert [piece.agreement for piece in pieces("dog", [])] == ["none"]


@given(st.text(), st.lists(st.text(), max_size=3))
def test_pieces_join_to_the_whole_text(candidate: str, references: list[str]) -> None:
    assert "".join(piece.text for piece in pieces(candidate, references)) == candidate


def test_word_matches_in_any_case_but_not_inside_other_words() -> None:
    assert has_word("Dog", REFERENCES)
    assert has_word("running", REFERENCES)
    assert not has_word("each", REFERENCES)
    assert not has_word("cat", REFERENCES)
