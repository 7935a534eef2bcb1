"""Signatures: one line with everything that a score depends on besides the captions.

    cider-d|variant:official|tokenizer:ptb|sigma:6|idf:references-5000|captious:0.1.0

Scores are comparable only if their signatures are equal.
"""

from __future__ import annotations

from collections.abc import Mapping

from captious.version import __version__

__all__ = ["exact", "signature"]


def signature(name: str, parameters: Mapping[str, object]) -> str:
    """The signature of an output under these parameters, package version last."""
    parts = [name, *(f"{key}:{_text(value)}" for key, value in parameters.items()), f"captious:{__version__}"]
    return "|".join(parts)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return exact(value) if isinstance(value, float) else str(value)


def exact(number: float) -> str:
    """The shortest text from which exactly this number is read back."""
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))
