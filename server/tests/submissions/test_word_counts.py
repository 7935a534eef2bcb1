"""What limits count as a word."""

from __future__ import annotations

import pytest

from captious_server.submissions.reading import count_words


@pytest.mark.parametrize(
    ("caption", "n"),
    [
        ("", 0),
        ("A cat, on a mat.", 7),
        ("it's", 3),
        ("\u4e00\u53ea\u732b\u5750\u5728\u57ab\u5b50\u4e0a\u3002", 9),
        ("\u732b\u304c3\u5339 cats", 5),
        ("\u043a\u043e\u0442 \u0441\u043f\u0438\u0442", 2),
    ],
)
def test_punctuation_marks_count_as_words(caption: str, n: int) -> None:
    assert count_words(caption) == n
