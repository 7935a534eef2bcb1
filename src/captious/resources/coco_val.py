"""Document frequencies of COCO's validation images, which are part of the package: see training/learned."""

from __future__ import annotations

from pathlib import Path

__all__ = ["FILE", "NAME"]

#: What the option --idf and signatures call them.
NAME = "coco-val"
#: Where they are.
FILE = Path(__file__).parent / f"{NAME}.idf"
