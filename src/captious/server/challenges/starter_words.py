"""The starter texts of a new challenge, and warnings about parts that were not replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

#: The folder of a new challenge, with placeholders.
STARTER = Path(__file__).parents[1] / "challenge_folders" / "starter"


def starter_warnings(texts: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each text that still asks organizers to describe something.

    Args:
        texts: name of a text -> the text.
    """
    for name, text in texts.items():
        if remains := [f"“{sentence} …”" for sentence in _placeholders() if sentence in text]:
            yield f"The {name} still has the words of the starter: {'; '.join(remains)}."


@cache
def _placeholders() -> list[str]:
    """The beginnings of the placeholder sentences."""
    sentences = (re.findall(r"Describe [^.:$]+", file.read_text(encoding="utf-8")) for file in STARTER.iterdir())
    return [" ".join(sentence.split()) for matches in sentences for sentence in matches]
