"""Every kind of file that users hand in, damaged and forged: a result or a ``CaptiousError``, never anything else.

By default a few of each; ``--fuzz N`` reads N. Case n of a kind is always the same.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from captious.errors import CaptiousError
from tests.fuzz.kinds import KINDS

#: Cases of each kind by default.
SAMPLE = 100


def run_case(kind: str, number: int, folder: Path) -> bool:
    """Make a case, write it to the folder and read it; whether it could be read."""
    of_kind = KINDS[kind]
    path = folder / of_kind.name
    path.write_bytes(of_kind.make(random.Random(f"{kind} {number}")))
    try:
        of_kind.read(path)
    except CaptiousError as error:
        assert error.message
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_give_only_declared_errors(kind: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    for number in range(pytestconfig.getoption("fuzz") or SAMPLE):
        try:
            run_case(kind, number, tmp_path)
        except BaseException as error:
            (tmp_path / "case").write_bytes(KINDS[kind].make(random.Random(f"{kind} {number}")))
            raise AssertionError(f"case {number} of {kind}, which is in {tmp_path / 'case'}: {error!r}") from error
