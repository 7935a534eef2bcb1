"""The captions of the golden record: the project's examples, and 200 images of COCO with three real systems."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.shared_data import DATA

__all__ = ["EXAMPLES", "EXAMPLE_VECTORS", "REFERENCES", "VECTORS", "Coco", "coco"]

EXAMPLES = Path(__file__).parents[2] / "examples"
REFERENCES = str(EXAMPLES / "references.json")
EXAMPLE_VECTORS = str(EXAMPLES / "captions-12d.txt")
#: Of real captions.
VECTORS = str(DATA / "vectors" / "glove_100d_captions.txt.gz")

#: Of the Karpathy test split every 25th image is taken: 200.
STEP = 25


@dataclass(frozen=True)
class Coco:
    """200 images.

    Args:
        references: five of each image.
        systems: the captions of three machines.
        samples: the same, all three of an image together.
    """

    references: dict[int, list[str]]
    systems: dict[str, dict[int, str]]
    samples: dict[int, list[str]]

    def groups(self) -> dict[int, str]:
        """Return three groups of images, by their ids."""
        return {image: ("even", "odd", "third")[2 if image % 3 == 0 else image % 2] for image in self.references}


@cache
def coco() -> Coco:
    """Read the images; the fixture ``shared_data`` skips tests where there are none."""
    with gzip.open(DATA / "coco" / "karpathy_test_refs.json.gz", "rt", encoding="utf-8") as file:
        all_references = json.load(file)
    with gzip.open(DATA / "smurf" / "karpathy_4captioners.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    captions = {int(row["image"].removesuffix(".jpg").rsplit("_", 1)[1]): row["captions"][1:] for row in rows}
    references = {int(image): texts for image, texts in [*all_references.items()][::STEP]}
    samples = {image: captions[image] for image in references}
    systems = {f"system-{k}": {image: texts[k] for image, texts in samples.items()} for k in range(3)}
    return Coco(references, systems, samples)
