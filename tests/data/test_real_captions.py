"""COCO as it is published: all of val2014 with a system's results, and the Karpathy test split."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from captious.data import read_captions, read_references
from captious.errors import MissingCandidatesError, UnknownImageError
from tests.data.conftest import Refuses


def test_val2014_results_are_read(coco: Path) -> None:
    references = read_references(coco / "captions_val2014.json.gz")
    assert len(references) == 40_504
    assert len(references.texts) == 202_654
    assert references.without_references == ()
    with gzip.open(coco / "captions_val2014.json.gz") as file:
        annotations = json.load(file)["annotations"]
    of_image: dict[int, list[str]] = {}
    for annotation in annotations:
        of_image.setdefault(annotation["image_id"], []).append(annotation["caption"])
    assert references.ids == tuple(of_image)
    for row in (0, 1, 20_000, 40_503):
        start, end = references.offsets[row : row + 2]
        assert list(references.texts[start:end]) == list(of_image.values())[row]

    results = sorted((coco / "results_val2014").glob("*.json.gz"))[:2]
    for path in results:
        captions = read_captions(path, references)
        assert captions.references is references
        with gzip.open(path) as file:
            caption_of = {record["image_id"]: record["caption"] for record in json.load(file)}
        assert captions.candidates == tuple(caption_of[image] for image in captions.ids)


def test_karpathy_split_is_read(coco: Path, refuses: Refuses) -> None:
    references = read_references(coco / "karpathy_test_refs.json.gz")
    assert len(references) == 5_000
    assert references.id_form == "text"
    results = coco / "results_val2014" / "vinyals-et-al-2017.json.gz"
    with refuses(UnknownImageError, "35,504 of 40,504 candidates", str(results), 'match="common"'):
        read_captions(results, references)
    captions = read_captions(results, references, match="common")
    assert len(captions) == 5_000
    assert captions.ids[0] == 391895
    assert (captions.n_candidates_left_out, captions.n_references_left_out) == (35_504, 0)
    with refuses(MissingCandidatesError, "4,999 of 5,000", "karpathy_test_refs.json.gz"):
        read_captions({391895: "a man on a motorcycle"}, references)
