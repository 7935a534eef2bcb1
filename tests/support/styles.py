"""Style sheets that follow the design: colors, type and space come from its tokens."""

from __future__ import annotations

import re

__all__ = ["own_values"]


def own_values(style: str) -> list[str]:
    """Return the colors, sizes of type and spaces that a style sheet has of its own."""
    found = re.findall(r"#[0-9a-f]{3,8}\b|:root|font-size: [\d.]+rem", style)
    spaces = re.findall(r"(?<![\w-])(?:margin|padding|gap)[\w-]*: ([^;}]+)", style)
    own = [value for value in spaces if "clamp" not in value and "--row" not in value]
    lengths = [length for value in own for length in re.findall(r"([\d.]+)rem", value)]
    return found + [f"{length}rem" for length in lengths if float(length) >= 0.2]
