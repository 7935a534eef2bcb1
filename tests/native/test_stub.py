"""The stub of the kernels says what the kernels are."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.native import _kernels

STUB = Path(__file__).parents[2] / "src" / "captious" / "native" / "_kernels.pyi"


def test_stub_is_the_generated_one() -> None:
    if not STUB.exists():
        pytest.skip("no stub")
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_kernels)
    generator.put(_kernels)
    assert STUB.read_text() == generator.get(), "generate it again: python -m nanobind.stubgen -m captious.native._kernels"


def test_everything_public_is_in_the_kernels() -> None:
    import captious.native as native

    assert native.__all__ == sorted(native.__all__)
    assert {name for name in native.__all__ if name != "threads"} <= set(dir(_kernels))
