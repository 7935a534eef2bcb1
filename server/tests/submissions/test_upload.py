"""Problems and limits as values: what is shown of hostile names, and what survives JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious_server.submissions.upload import Problem, UploadLimits, amount, printable


@given(st.text(st.characters(exclude_categories=())))
def test_shown_form_of_any_name_can_be_stored(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    shown.encode()
    if text.isprintable() and len(text) <= 100:
        assert shown == text


@given(st.lists(st.integers() | st.text(st.characters(exclude_categories=())), max_size=50))
def test_problems_name_some_images_and_count_all(ids: list[int | str]) -> None:
    problem = Problem.about("a.json", "Wrong.", ids)
    assert problem.n == len(ids)
    assert len(problem.ids) == min(len(ids), 20)
    assert [image for image in problem.ids if isinstance(image, int)] == [i for i in ids[:20] if isinstance(i, int)]
    assert Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (2 << 30, "2 GiB"),
        (10**8, "100 MB"),
        (500 << 20, "500 MiB"),
        (2000, "2 kB"),
        (1234, "1,234 bytes"),
        (0, "0 bytes"),
    ],
)
def test_amounts_have_units(n: int, text: str) -> None:
    assert amount(n) == text


@pytest.mark.parametrize(("size", "seconds"), [(400_000, 10), (5 << 20, 22), (25 << 20, 60), (100 << 20, 60)])
def test_time_limit_grows_with_the_size_of_the_file(size: int, seconds: int) -> None:
    assert UploadLimits(seconds=60).of_size(size).seconds == seconds
    assert UploadLimits(seconds=3).of_size(size).seconds == 3
