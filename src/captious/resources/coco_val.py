"""Document frequencies of COCO's validation images, which are part of the package: see training/learned."""

from __future__ import annotations

from pathlib import Path

#: What the option --idf calls them.
NAME = "coco"
#: Where they are.
FILE = Path(__file__).parent / "coco-val.idf"
