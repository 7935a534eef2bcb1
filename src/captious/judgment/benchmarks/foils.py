"""Captions and altered ones: distractors, FOIL-COCO, nocaps-FOIL, SugarCrepe, SugarCrepe++ and VALSE."""

from __future__ import annotations

from pathlib import PurePath

from captious.errors import CaptionFileError
from captious.judgment import CaptionPair, DataFolder, Protocol, RatedCaption
from captious.judgment.files import coco_captions_file, entry_of, number_within, read_coco_captions
from captious.judgment.items import without

# Distractors: a caption and one with other people or another scene. Hodosh and Hockenmaier 2016.
#
# The tasks are choices between two captions of a picture. In the distractor, the person or the scene of the correct
# caption is replaced (RP, RS); only the person or the scene is shared with it (SP, SS); or it is nothing but the person
# or the scene (JP, JS). Both captions are scored with the other captions of the image as references: in four of the
# tasks by Kilickaya et al. 2017, in all by Sharif et al. 2019.

_TASKS = ("RP", "RS", "SP", "SS", "JP", "JS")


def items_distractors(protocol: Protocol, pairs: list[CaptionPair], folder: DataFolder) -> list[CaptionPair]:
    if other := next((pair for pair in pairs if pair.part not in _TASKS), None):
        help = f"give {', '.join(_TASKS)}"
        raise CaptionFileError(f"{other.part!r} is not a task", where=other.facts["place"], hint=help)
    if missing := [task for task in protocol.part_order if all(pair.part != task for pair in pairs)]:
        help = f"add them, or judge {protocol.benchmark}@kilickaya2017, with {', '.join(_TASKS[2:])}"
        raise folder.error(f"no pairs of {', '.join(missing)}", "distractors/pairs.jsonl", hint=help)
    return pairs


# FOIL-COCO: a caption of COCO and a foil in which a noun was replaced by a wrong one. Shekhar et al. 2017.
#
# A metric is right if it scores the correct caption higher, as Hessel et al. 2021 use the data. Every foil of the test
# split is paired with the correct caption of the same id. As in the program of Wada et al. 2024, the references are
# COCO's other captions of the image, all of them or only the first, and a tie counts as wrong.
#
# The format is taken from programs that read the owners' file; the protocols have not been run on it.


def read_foil_coco(folder: DataFolder, name: str, coco: str) -> list[CaptionPair]:
    """Read ``{"annotations": [{"id", "image_id", "caption", "foil": true or false}]}``; a pair shares an id."""
    annotations = folder.json(name)["annotations"]
    correct = {r["id"]: r["caption"].strip() for r in annotations if not r["foil"]}
    captions = read_coco_captions(folder, coco)
    pairs = []
    for r in annotations:
        if r["foil"]:
            where = folder.place(name, f"annotation {r['id']}")
            texts = entry_of(correct, r["id"], where), r["caption"].strip()
            references = entry_of(captions, r["image_id"], where)
            pairs.append(CaptionPair(r["image_id"], texts, 0, references, facts={"place": where}))
    return pairs


def not_the_same(item: CaptionPair, most: int | None = None) -> list[str]:
    """Return the references except the correct caption itself, at most this many."""
    return _some(item, [text for text in item.references if text != item.captions[item.preferred]])[:most]


def _some(item: CaptionPair, others: list[str]) -> list[str]:
    """Return the other captions of an image after a check that it has some."""
    if not others:
        message, help = f"image {item.image} has no other caption", "check the file with the captions of its image"
        raise CaptionFileError(message, where=item.facts["place"], hint=help)
    return others


# nocaps-FOIL: a caption of nocaps and one in which an object was replaced by another. Petryk et al. 2024 (ALOHa).
#
# ALOHa's paper reports the average precision of metrics in detecting captions with a wrong object, over all images and
# for each of nocaps' domains. The forced choice of FOIL-COCO is a separate protocol.


def items_nocaps_foil(
    protocol: Protocol, pairs: list[CaptionPair], folder: DataFolder
) -> list[CaptionPair] | list[RatedCaption]:
    """Return pairs, or their single captions: 1 for the correct one, 0 for the other."""
    if protocol.of == "pairs":
        return pairs
    return [
        RatedCaption(f"{number}|{pair.image}|{kind}", pair.image, text, pair.references, [correct], pair.part)
        for number, pair in enumerate(pairs, start=1)
        for kind, text, correct in zip(("baseline", "foil"), pair.captions, (1, 0), strict=True)
    ]


# SugarCrepe: a correct caption and an altered one, with seven kinds of alterations. Hsieh et al. 2023.
#
# Its files have no references: COCO's captions are used, of val2017 or of val2014, which has the same images.


def other_references(item: CaptionPair) -> list[str]:
    """Return the references that differ in letters or digits from the right caption and the one it was made of."""
    right = item.captions[item.preferred]
    return _some(item, without(item.references, right, item.facts.get("orig_caption", right)))


def coco_image(name: object, where: str) -> int:
    """Return the id in a file name: COCO_val2014_000000085329.jpg in 2014, 000000085329.jpg in 2017."""
    return int(number_within(PurePath(str(name)).stem.rpartition("_")[2], 0, None, where))


# SugarCrepe++: two captions with the same meaning, and one with similar words but another meaning. Dumpala et al.
# 2024.
#
# ``text-only`` compares only texts: the first caption is the reference, and a metric is right if it scores the second
# one higher than the negative one. ``forced-choice`` is that of SugarCrepe: each of the two captions is compared with
# the negative one, with COCO's other captions of the image as references.


def items_sugarcrepe_pp(protocol: Protocol, pairs: list[CaptionPair], folder: DataFolder) -> list[CaptionPair]:
    if protocol.name != "forced-choice":
        return pairs
    captions = read_coco_captions(folder, coco_captions_file(folder))
    choices = []
    for pair in pairs:
        (first,), (second, negative), where = pair.references, pair.captions, pair.facts["place"]
        image = coco_image(pair.image, where)
        references = without(entry_of(captions, image, where), first)
        choices += [CaptionPair(image, (text, negative), 0, references, pair.part) for text in (first, second)]
    return choices


# VALSE: a caption of COCO and a foil, by linguistic phenomenon. Parcalabescu et al. 2022.
#
# Three of its parts are about images with captions of COCO: plurals, relations, and nouns (those of FOIL). As in the
# paper, only foils that at least two of three people recognized are used. References are COCO's other captions of the
# image, so that reference-based metrics can be compared as well.

_AGREED = 2  # annotators, out of three


def is_unclear(item: CaptionPair, piece: str = "") -> bool:
    """Return whether too few people recognized the foil, or it belongs to another piece than a named one."""
    return bool(item.facts["mturk"]["caption"] < _AGREED) or piece not in ("", item.part)
