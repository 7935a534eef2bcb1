"""The words for COCO's objects with which CHAIR was published, which are part of the package."""

from __future__ import annotations

from pathlib import Path

#: What signatures call them.
NAME = "coco"
#: Where they are.
FILE = Path(__file__).parent / "coco-objects.json"
