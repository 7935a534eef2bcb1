"""Captions in several languages, written for tests: a language, a candidate and its reference on every line.

Those in English have a sign, numbers, quotes, entities and marks on which tokenizers differ.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["CAPTIONS", "ENGLISH"]

_ROWS = [line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()]
_LANGUAGES = dict.fromkeys(language for language, _, _ in _ROWS)
_PAIRS = {name: tuple((a, b) for language, a, b in _ROWS if language == name) for name in _LANGUAGES}
ENGLISH = _PAIRS.pop("english")
#: Language other than English -> candidates with a reference each.
CAPTIONS = _PAIRS
