"""Document frequencies of COCO's validation images, which are part of the package; see training/learned."""

from __future__ import annotations

from pathlib import Path

#: Their name for the option --idf.
NAME = "coco"
#: Their file.
FILE = Path(__file__).parent / "coco-val.idf"
