"""Regular expressions of what models and files leave in captions: Markdown, special tokens, refusals, escapes ...

``patterns.toml`` is the table. It is read at the first use, and a pattern is compiled at its first: few runs need more
than a few of them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from captious.files import tables

_FILE = Path(__file__).with_suffix(".toml")


@cache
def text(name: str) -> str:
    """Return the text of a pattern, with those of the patterns that it names."""
    return re.sub(r"\$\{(\w+)\}", lambda named: text(named[1]), "".join(tables(_FILE)[name]["text"]))


@cache
def regex(name: str) -> re.Pattern[str]:
    """Return a pattern."""
    flags = tables(_FILE)[name].get("flags", "")
    return re.compile(f"(?{flags}){text(name)}" if flags else text(name))
