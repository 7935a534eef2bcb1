"""The golden record: what is computed today, in files, so that a change of any number or text is seen.

A test gives what it has computed a name::

    def test_scores_of_the_examples(record: Record) -> None:
        record("examples/bleu", {"bleu-4": 0.31, "signature": "bleu-4|..."})

The document is compared with the committed file ``golden/values/examples/bleu.json`` beside the test, or
``values/examples/bleu.json`` if the test is in a folder ``golden`` itself. ``pytest --write-golden`` writes the file
anew where they differ. A later call with the same name in a session compares in any case, so that two ways to the same
numbers can share a file.

Documents consist of what JSON has: dicts with text as keys, lists (or tuples), text, numbers (NumPy's, too), booleans
and None, and of NaN and infinities. Floats may differ by 1e-12, relative to the recorded one if that is above 1, and so
may numbers with a decimal point within text: the last digits of matrix products depend on the processor.
Everything else is compared exactly: integers are no floats, and the order of keys counts.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

__all__ = ["TOLERANCE", "Record", "differences", "layout", "plain", "record"]

#: How much floats may differ: absolute for recorded values up to 1, relative above.
TOLERANCE = 1e-12

#: A number with a decimal point within text, as programs print floats.
FLOAT = re.compile(r"(-?\d+\.\d+(?:e[-+]?\d+)?)")

#: Lines of a file are not longer, unless a list of numbers and texts is.
WIDTH = 120

#: So many differences are listed.
LISTED = 10


class Record:
    """The recorded documents of a test.

    Args:
        folder: with a file for each name.
        rewrite: whether files with other values are written anew.
        command: rewrites the files of this test, for messages.
    """

    #: Files that this process has written. They are compared from then on.
    written: set[Path] = set()  # noqa: RUF012 - of all tests

    def __init__(self, folder: Path, *, rewrite: bool = False, command: str = "pytest --write-golden") -> None:
        self.folder = folder
        self.rewrite = rewrite
        self.command = command

    def __call__(self, name: str, document: object, *, tolerance: float = TOLERANCE) -> None:
        """Compare a document with the recorded one of this name.

        Args:
            name: of the file, without ``.json``; it may have folders, separated by ``/``.
            document: of what JSON has.
            tolerance: how much floats may differ, where they are not reproducible to the default.
        """
        __tracebackhide__ = True
        path = self.folder / f"{name}.json"
        now = plain(document)
        found: list[str] | None = None
        if path.exists():
            found = differences(json.loads(path.read_text("utf-8")), now, tolerance)
            if not found:
                return
        if self.rewrite and path not in self.written:
            self.written.add(path)
            _replace(path, layout(now) + "\n")
            return
        if found is None:
            pytest.fail(f"nothing is recorded as {name}: {path} is missing\nwrite it: {self.command}", pytrace=False)
        more = [f"... and {len(found) - LISTED} more"] if len(found) > LISTED else []
        pytest.fail(
            "\n".join(
                [
                    f"{name} is not what {path} has recorded: {len(found)} difference{'s' * (len(found) > 1)}",
                    *(f"  {line}" for line in [*found[:LISTED], *more]),
                    f"If that is meant, write the record anew, in a commit that says why: {self.command}",
                ]
            ),
            pytrace=False,
        )


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """The golden record of this test: ``record(name, document)``."""
    folder = request.path.parent
    if folder.name != "golden":
        folder /= "golden"
    return Record(
        folder / "values",
        rewrite=bool(request.config.getoption("--write-golden")),
        command=f"pytest --write-golden '{request.node.nodeid}'",
    )


def plain(document: object, where: str = "$") -> Any:
    """Return a document of dicts, lists, text, numbers, booleans and None; NumPy's and tuples become those."""
    if isinstance(document, np.ndarray | np.generic):
        document = document.tolist()
    if document is None or isinstance(document, bool):
        return document
    for kind in (str, int, float):
        if isinstance(document, kind):
            return kind(document)  # of subclasses, too
    if isinstance(document, list | tuple):
        return [plain(value, f"{where}[{index}]") for index, value in enumerate(document)]
    if isinstance(document, dict):
        if other := [key for key in document if not isinstance(key, str)]:
            raise TypeError(f"{where}: keys are text, not {other[0]!r}")
        return {str(key): plain(value, f"{where}.{key}") for key, value in document.items()}
    raise TypeError(f"{where}: {type(document).__name__} is not in JSON")


def differences(recorded: object, now: object, tolerance: float = TOLERANCE) -> list[str]:
    """Return a line for each place where two documents differ: its path, and both values."""
    return list(_differences(recorded, now, tolerance, "$"))


def _differences(recorded: Any, now: Any, tolerance: float, path: str) -> Iterator[str]:
    if type(recorded) is not type(now):
        yield f"{path}: recorded {_short(recorded)}, now {_short(now)}"
    elif isinstance(recorded, dict):
        yield from (
            f"{path}.{key}: recorded {_short(recorded[key])}, now missing" for key in recorded if key not in now
        )
        yield from (f"{path}.{key}: not recorded, now {_short(now[key])}" for key in now if key not in recorded)
        common, common_now = [key for key in recorded if key in now], [key for key in now if key in recorded]
        if common != common_now:
            yield f"{path}: keys are in another order: recorded {_short(common)}, now {_short(common_now)}"
        for key in common:
            yield from _differences(recorded[key], now[key], tolerance, f"{path}.{key}")
    elif isinstance(recorded, list):
        if len(recorded) != len(now):
            yield f"{path}: recorded {len(recorded)} items, now {len(now)}"
        for index, (one, other) in enumerate(zip(recorded, now, strict=False)):
            yield from _differences(one, other, tolerance, f"{path}[{index}]")
    elif isinstance(recorded, float):
        if not _same(recorded, now, tolerance):
            yield f"{path}: recorded {recorded!r}, now {now!r} ({now - recorded:+.3g})"
    elif recorded != now and not (isinstance(recorded, str) and _same_text(recorded, now, tolerance)):
        yield f"{path}: recorded {_short(recorded)}, now {_short(now)}"


def _same_text(recorded: str, now: str, tolerance: float) -> bool:
    one, other = FLOAT.split(recorded), FLOAT.split(now)  # numbers at odd places
    return one[::2] == other[::2] and all(
        _same(float(a), float(b), tolerance) for a, b in zip(one[1::2], other[1::2], strict=True)
    )


def _same(recorded: float, now: float, tolerance: float) -> bool:
    if recorded == now or (math.isnan(recorded) and math.isnan(now)):
        return True
    if not math.isfinite(recorded) or not math.isfinite(now):
        return False
    return abs(now - recorded) <= tolerance * max(1.0, abs(recorded))


def _short(value: object, width: int = 300) -> str:
    text = repr(value)
    return text if len(text) <= width else f"{text[:width]}..."


def layout(document: object, indent: str = "") -> str:
    """Return a plain document as JSON that is compared easily by lines: what fits a line or is a list of single values
    is on one, and what is in other dicts and lists is on a line each. NaN and infinities are as Python writes them.
    """
    line = json.dumps(document, ensure_ascii=False)
    if not line.isprintable():  # half a pair of surrogates, or marks that editors do not show
        line = json.dumps(document)
    if not isinstance(document, dict | list) or len(indent) + len(line) <= WIDTH:
        return line
    inner = indent + " "
    if isinstance(document, list):
        if not any(isinstance(value, dict | list) for value in document):
            return line
        opening, closing, lines = "[", "]", [layout(value, inner) for value in document]
    else:
        opening, closing = "{", "}"
        lines = [f"{layout(key)}: {layout(value, inner)}" for key, value in document.items()]
    return "\n".join([opening, ",\n".join(inner + line for line in lines), indent + closing])


def _replace(path: Path, text: str) -> None:
    """Write a file so that it has either its old or its new content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(text, "utf-8", newline="\n")
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
