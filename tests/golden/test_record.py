"""The golden record sees every change above its tolerance, says where it is, and is rewritten only on request."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden.record import Record, differences, layout, plain

DOCUMENT = {
    "signature": "bleu-4|v:1",
    "row": "bleu-4,0.25,3",
    "score": 0.25,
    "counts": {"images": 2, "long": 1234567.0},
    "per_caption": [0.1, math.nan, -math.inf],
    "none": None,
    "yes": True,
    "more": [{"a": 1}, {"a": 2.0}],
}


@pytest.fixture(autouse=True)
def files_written(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """Files that the session has written, without those of other tests."""
    monkeypatch.setattr(Record, "written", set())
    return Record.written


def changed(path: str, value: object) -> Any:
    document = plain(DOCUMENT)
    *keys, last = path.split(".")
    inner = document
    for key in keys:
        inner = inner[int(key) if key.isdigit() else key]
    inner[int(last) if last.isdigit() else last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("signature", "bleu-4|v:2"),
        ("row", "bleu-4,0.25000000001,3"),
        ("row", "bleu-4,0.25,4"),
        ("score", 0.25 + 2e-12),
        ("score", math.nan),
        ("score", "0.25"),
        ("counts.images", 3),
        ("counts.images", 2.0),
        ("counts.long", 1234567.0 + 1e-5),
        ("per_caption.0", 0.1 - 2e-12),
        ("per_caption.1", 0.0),
        ("per_caption.2", math.inf),
        ("per_caption", [0.1, math.nan]),
        ("none", False),
        ("yes", 1),
        ("more.1.a", 2.1),
        ("other", None),
    ],
)
def test_one_change_is_one_difference(path: str, value: object) -> None:
    (line,) = differences(plain(DOCUMENT), changed(path, value))
    where = "".join(f"[{key}]" if key.isdigit() else f".{key}" for key in path.split("."))
    assert line.startswith(f"${where}: ")


def test_what_is_within_the_tolerance_is_the_same() -> None:
    for path, value in [
        ("score", 0.25 + 5e-13),
        ("counts.long", 1234567.0 + 5e-7),
        ("per_caption.0", 0.1 - 5e-13),
        ("row", "bleu-4,0.2500000000005,3"),
    ]:
        assert differences(plain(DOCUMENT), changed(path, value)) == []
    assert differences(0.5, 0.50001, tolerance=1e-4) == []
    assert differences(0.5, 0.501, tolerance=1e-4) != []


def test_another_order_and_a_missing_key_are_differences() -> None:
    assert differences({"a": 1, "b": 2}, {"b": 2, "a": 1}) == [
        "$: keys are in another order: recorded ['a', 'b'], now ['b', 'a']"
    ]
    assert differences({"a": 1, "b": 2}, {"b": 2}) == ["$.a: recorded 1, now missing"]


def test_files_have_a_line_for_each_list_of_numbers_and_are_read_back() -> None:
    document = plain(DOCUMENT | {"per_caption": [i / 7 for i in range(100)], "text": "\ud800 é"})
    text = layout(document)

    assert [line for line in text.splitlines() if line.startswith(' "per_caption": [0.0, 0.142')]
    assert differences(json.loads(text), document) == []
    assert layout(["é"]) == '["é"]'


def test_numbers_of_numpy_and_tuples_are_plain() -> None:
    assert plain({"a": np.float64(0.5), "b": np.arange(2), "c": (1, np.str_("x")), "d": np.bool_(True)}) == {
        "a": 0.5,
        "b": [0, 1],
        "c": [1, "x"],
        "d": True,
    }
    with pytest.raises(TypeError, match=r"\$\.a: keys are text, not 1"):
        plain({"a": {1: 2}})
    with pytest.raises(TypeError, match=r"\$\[0\]: set is not in JSON"):
        plain([set()])


def test_missing_files_and_changes_fail_until_they_are_written(tmp_path: Path, files_written: set[Path]) -> None:
    compare, rewrite = Record(tmp_path, command="pytest x --write-golden"), Record(tmp_path, rewrite=True)
    with pytest.raises(pytest.fail.Exception, match=r"nothing is recorded as a/b: [^\n]*\nwrite it: pytest x --write"):
        compare("a/b", DOCUMENT)
    assert list(tmp_path.iterdir()) == []
    rewrite("a/b", DOCUMENT)
    compare("a/b", DOCUMENT)
    with pytest.raises(pytest.fail.Exception, match=r"1 difference\n  \$\.score: recorded 0.25, now 0.5 \(\+0.25\)"):
        compare("a/b", changed("score", 0.5))
    with pytest.raises(pytest.fail.Exception, match="1 difference"):
        rewrite("a/b", changed("score", 0.5))  # written before
    files_written.clear()
    rewrite("a/b", changed("score", 0.5))
    compare("a/b", changed("score", 0.5))
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.json"]


def test_files_within_the_tolerance_are_not_rewritten(tmp_path: Path, files_written: set[Path]) -> None:
    Record(tmp_path, rewrite=True)("a", {"score": 0.25})
    files_written.clear()
    Record(tmp_path, rewrite=True)("a", {"score": 0.25 + 5e-13})
    assert json.loads((tmp_path / "a.json").read_text()) == {"score": 0.25}


def test_long_lists_of_differences_are_cut(tmp_path: Path) -> None:
    Record(tmp_path, rewrite=True)("a", list(range(100)))
    with pytest.raises(pytest.fail.Exception, match=r"100 differences\n(  \$\[\d\].*\n){10}  \.\.\. and 90 more\n"):
        Record(tmp_path)("a", [float(i) for i in range(100)])
