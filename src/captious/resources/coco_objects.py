"""The words for COCO's objects with which CHAIR was published, which are part of the package."""

from __future__ import annotations

from pathlib import Path

#: Their name in signatures.
NAME = "coco"
#: Their file.
FILE = Path(__file__).parent / "coco-objects.json"
