"""The logo of a challenge: valid files and their media types."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

_MAX_BYTES = 100 * 1024
#: Ending of the name -> media type.
LOGO_TYPES: Mapping[str, str] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
}
_SVG = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s>]", re.DOTALL)
_SIGNATURES: Mapping[str, Callable[[bytes], bool]] = {
    "image/png": lambda content: content.startswith(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": lambda content: content.startswith(b"\xff\xd8\xff"),
    "image/webp": lambda content: content[:4] == b"RIFF" and content[8:12] == b"WEBP",
    "image/svg+xml": lambda content: _SVG.match(content) is not None and b"<!ENTITY" not in content,
}


def logo_problem(path: Path) -> str:
    """The reason why a file cannot be a logo, without a full stop; empty if it can."""
    kind = LOGO_TYPES.get(path.suffix.lower())
    if kind is None:
        return f"a logo must be one of {', '.join(LOGO_TYPES)}"
    if path.stat().st_size > _MAX_BYTES:
        return f"a logo may have up to {_MAX_BYTES // 1024} KiB"
    if not _SIGNATURES[kind](path.read_bytes()):
        return f"its content is not {kind}, as its name says"
    return ""
