"""Files for training in papers, generated from others in the folder of judgment data."""

from __future__ import annotations

import json
from pathlib import Path

from captious.data import read_references
from captious.errors import ResourceError
from captious.files.atomic_write import whole_file
from captious.judgment.human_judgments import RatedCaptions
from captious.judgment.judging import load_judgments
from captious.learned.networks.training_example_files import read_ids, write_examples
from captious.learned.networks.training_examples import make_examples

_REFERENCES = "coco/captions_val2014.json.gz"
_SYSTEMS = "coco/results_val2014"
_KEEP_OUT = "coco/evaluation_images.json.gz"
_IMAGES = 4_000


def coco_sources(folder: Path) -> tuple[Path, tuple[Path, ...], Path]:
    """Return COCO's validation captions, the results of systems on them, and the ids of images to exclude.

    Raises:
        ResourceError: captions or systems are missing.
    """
    references, systems = folder / _REFERENCES, tuple(sorted((folder / _SYSTEMS).glob("*.json*")))
    if not references.exists() or not systems:
        raise ResourceError(
            "the captions and systems of COCO are not in the folder of judgment data",
            where=f"{folder}: {_REFERENCES}, {_SYSTEMS}/",
            help="give REFERENCES and SYSTEMs",
        )
    return references, systems, folder / _KEEP_OUT


def coco_examples(folder: Path, output: Path) -> None:
    """Write training examples of 4,000 images that are in no evaluation; negative ones are captions of other images."""
    references, systems, keep_out = coco_sources(folder)
    files = {path.name.partition(".")[0]: path for path in systems}
    out = read_ids(keep_out)
    examples, _ = make_examples(
        read_references(references), files, keep_out=out, negatives="other", images=_IMAGES, validation=0
    )
    write_examples(output, examples)


def expert_ratings(folder: Path, output: Path) -> None:
    """Write the captions of Flickr8k-Expert with the mean ratings of three experts."""
    judgments = load_judgments("flickr8k-expert@yi2020", folder)
    assert isinstance(judgments, RatedCaptions)
    table = judgments.captions
    ends = table.references.offsets.tolist()
    with whole_file(output) as file:
        for i, ratings in enumerate(judgments.ratings):
            references = table.references.texts[ends[i] : ends[i + 1]]
            row = {"candidate": table.candidates[i], "references": references, "rating": float(ratings.mean())}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
