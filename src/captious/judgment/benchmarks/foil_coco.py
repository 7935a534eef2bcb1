"""FOIL-COCO: a caption of COCO and a foil in which a noun was replaced by a wrong one. Shekhar et al. 2017.

A metric is right if it scores the correct caption higher, as Hessel et al. 2021 use the data. Every foil of the test
split is paired with the correct caption of the same id. As in the program of Wada et al. 2024, the references are
COCO's other captions of the image, all of them or only the first, and a tie counts as wrong.

The format is taken from programs that read the owners' file; the protocols have not been run on it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from captious.errors import CaptionFileError
from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, Rule
from captious.judgment.files.judgment_files import entry_of, read_coco_captions

_FOIL = "foil/foilv1.0_test_2017.json"
_COCO = "coco/captions_val2014.json"


def _other_references(item: CaptionPair) -> list[str]:
    """Return the references except the correct caption itself."""
    return [text for text in item.references if text != item.captions[item.preferred]]


def _read(folder: DataFolder) -> list[CaptionPair]:
    """Read ``{"annotations": [{"id", "image_id", "caption", "foil": true or false}]}``; a pair shares an id."""
    captions = read_coco_captions(folder, _COCO)
    correct: dict[int, str] = {}
    wrong: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for annotation in folder.json(_FOIL)["annotations"]:
        key, image, text = annotation["id"], annotation["image_id"], annotation["caption"].strip()
        if annotation["foil"]:
            wrong[key].append((image, text))
        else:
            correct[key] = text
    pairs = []
    for key, foils in wrong.items():
        where = folder.place(_FOIL, f"annotation {key}")
        for image, text in foils:
            pair = CaptionPair(image, (entry_of(correct, key, where), text), 0, entry_of(captions, image, where))
            if not _other_references(pair):
                raise CaptionFileError(f"image {image} has no other caption", where=where, help=f"check {_COCO}")
            pairs.append(pair)
    return pairs


_protocol = partial(
    Protocol,
    "foil-coco",
    statistic="accuracy",
    ratings="known",
    of="pairs",
    ties=0.0,
    source="Hessel et al. 2021; Wada et al. 2024",
)

FOIL_COCO = Benchmark(
    "foil-coco",
    (
        _protocol("four-ref", references=Rule("the image's, without the correct caption", _other_references)),
        _protocol(
            "one-ref",
            references=Rule(
                "the first of the image's, without the correct caption", lambda item: _other_references(item)[:1]
            ),
        ),
    ),
    (Files((_FOIL, _COCO), _read),),
    "foilunitn.github.io; COCO's annotations",
)
