"""Signatures: one line with everything that a score depends on besides the captions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from captious.metrics.contract.parameters import exact
from captious.version import __version__


def signature(name: str, parameters: Mapping[str, object]) -> str:
    """Return one line with everything that a score depends on besides the captions, package version last.

        cider-d|variant:official|tokenizer:ptb|sigma:6|idf:references-5000|captious:0.1.0

    Scores are comparable only if their signatures are equal.
    """
    parts = [name, *(f"{key}:{_signature_text(value)}" for key, value in parameters.items()), f"captious:{__version__}"]
    return "|".join(parts)


def add_part(signatures: Iterable[str], part: str) -> tuple[str, ...]:
    """Add a part, such as ``references:5``, to signatures before the package version."""
    pieces = (signature.rpartition("|") for signature in signatures)
    return tuple(f"{parameters}|{part}|{version}" for parameters, _, version in pieces)


def _signature_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return exact(value) if isinstance(value, float) else str(value)
