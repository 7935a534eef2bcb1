"""Who has to give up what, when there is not enough for all."""

from __future__ import annotations

import pytest

from captious_server.operations.web import Holding, surplus, takes_long


def held(text: str) -> list[Holding[str]]:
    """ "a3 b5!": two items of a and b; one with "!" cannot be taken away."""
    words = text.split()
    return [Holding(word, word[0], int(word[1:].rstrip("!")), can_end=not word.endswith("!")) for word in words]


@pytest.mark.parametrize(
    ("holdings", "ended"),
    [
        ("", []),
        ("a3 b3 c4", []),
        ("a3 b3 c4 d1", ["c4"]),  # of the one who has most
        ("a2 b2 c2 d2 e3", ["e3"]),
        ("a2 a3 b1", ["a3"]),  # more than a share
        ("a3! a2 b1", ["a2"]),
        ("a5! b3 c2 d1", ["b3"]),  # what has most cannot be taken away
        ("a4! b4! c4! d1", []),  # and a small one does not pay for that
        ("a9! b0", []),
    ],
)
def test_largest_holder_gives_first(holdings: str, ended: list[str]) -> None:
    """10 in total, of which one may have 4."""
    assert surplus(held(holdings), 10, 4) == ended


def test_full_shares_leave_room_for_a_small_one() -> None:
    """Four holders of a quarter each do not keep a fifth out."""
    holdings = [Holding(f"{owner}{n}", owner, 5) for owner in "abcd" for n in range(5)] + [Holding("e", "e", 1)]
    assert surplus(holdings, 100, 25) in [[f"{owner}4"] for owner in "abcd"]


@pytest.mark.parametrize(
    ("path", "is_slow"),
    [
        ("/challenges/demo/compare", True),
        ("/challenges/demo/captions/11", True),
        ("/submissions/1/scores/val/c5.csv", True),
        ("/api/v1/challenges/demo/compare", True),
        ("/api/v1/submissions/1/scores", True),
        ("/api/v1/submissions/1", False),
        ("/api/v1/challenges/demo/leaderboard", False),
        ("/challenges/demo/leaderboard", False),
    ],
)
def test_slow_pages_have_threads_of_their_own(path: str, is_slow: bool) -> None:
    """API calls that compute the same count as slow pages."""
    assert takes_long(path) == is_slow
