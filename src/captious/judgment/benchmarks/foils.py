"""Captions and altered ones: distractors, FOIL-COCO, nocaps-FOIL, SugarCrepe, SugarCrepe++ and VALSE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.judgment.benchmarks.benchmark import coco_image, coco_pairs
from captious.judgment.files import COCO_CAPTIONS, coco_captions_file, entry_of, read_coco_captions
from captious.judgment.items import without

#: A choice of two captions, one of which is known to be right.
_choice: Any = partial(Protocol, statistic="accuracy", ratings="known", of="pairs")

# Distractors: a caption and one with other people or another scene. Hodosh and Hockenmaier 2016.
#
# The tasks are choices between two captions of a picture. In the distractor, the person or the scene of the correct
# caption is replaced (RP, RS); only the person or the scene is shared with it (SP, SS); or it is nothing but the person
# or the scene (JP, JS). Both captions are scored with the other captions of the image as references: in four of the
# tasks by Kilickaya et al. 2017, in all by Sharif et al. 2019.

_FILE_DISTRACTORS = "distractors/pairs.jsonl"
_REPLACED = ("RP", "RS")
_SHARED_AND_JUST = ("SP", "SS", "JP", "JS")
_TASKS = _REPLACED + _SHARED_AND_JUST


def _read_distractors(folder: DataFolder) -> list[CaptionPair]:
    pairs = []
    for line, r in folder.numbered_records(_FILE_DISTRACTORS):
        if r["task"] not in _TASKS:
            raise folder.error(f"{r['task']!r} is not a task", _FILE_DISTRACTORS, line, f"give {', '.join(_TASKS)}")
        pairs.append(CaptionPair(r["image"], (r["correct"], r["distractor"]), 0, r["refs"], r["task"]))
    return pairs


def _items_distractors(protocol: Protocol, pairs: list[CaptionPair], folder: DataFolder) -> list[CaptionPair]:
    if missing := [task for task in protocol.part_order if all(pair.part != task for pair in pairs)]:
        help = f"add them, or judge {protocol.benchmark}@kilickaya2017, with {', '.join(_SHARED_AND_JUST)}"
        raise folder.error(f"no pairs of {', '.join(missing)}", _FILE_DISTRACTORS, hint=help)
    return pairs


_protocol_distractors = partial(
    _choice,
    "distractors",
    references=Rule("as given in the file, without the correct caption", attrgetter("references")),
    parts=Rule("tasks", attrgetter("part")),
)

DISTRACTORS = Benchmark(
    "distractors",
    (
        _protocol_distractors(
            "kilickaya2017",
            excluded=Rule("replaced persons and scenes (RP, RS)", lambda item: item.part in _REPLACED),
            part_order=_SHARED_AND_JUST,
            source="Kilickaya et al. 2017",
        ),
        _protocol_distractors("sharif2019", part_order=_TASKS, source="Sharif et al. 2019"),
    ),
    (Files((_FILE_DISTRACTORS,), _read_distractors),),
    "Hodosh and Hockenmaier 2016",
    items=_items_distractors,
)


# FOIL-COCO: a caption of COCO and a foil in which a noun was replaced by a wrong one. Shekhar et al. 2017.
#
# A metric is right if it scores the correct caption higher, as Hessel et al. 2021 use the data. Every foil of the test
# split is paired with the correct caption of the same id. As in the program of Wada et al. 2024, the references are
# COCO's other captions of the image, all of them or only the first, and a tie counts as wrong.
#
# The format is taken from programs that read the owners' file; the protocols have not been run on it.

_FOIL = "foil/foilv1.0_test_2017.json"
_COCO = "coco/captions_val2014.json"


def _other_references_foil_coco(item: CaptionPair) -> list[str]:
    """Return the references except the correct caption itself."""
    return [text for text in item.references if text != item.captions[item.preferred]]


def _pairs_foil_coco(folder: DataFolder) -> Iterator[tuple[str, CaptionPair]]:
    """Read ``{"annotations": [{"id", "image_id", "caption", "foil": true or false}]}``; a pair shares an id."""
    annotations = folder.json(_FOIL)["annotations"]
    correct = {r["id"]: r["caption"].strip() for r in annotations if not r["foil"]}
    for r in annotations:
        if r["foil"]:
            where = folder.place(_FOIL, f"annotation {r['id']}")
            yield where, CaptionPair(r["image_id"], (entry_of(correct, r["id"], where), r["caption"].strip()), 0)


_protocol_foil_coco = partial(_choice, "foil-coco", ties=0.0, source="Hessel et al. 2021; Wada et al. 2024")

FOIL_COCO = Benchmark(
    "foil-coco",
    (
        _protocol_foil_coco(
            "four-ref", references=Rule("the image's, without the correct caption", _other_references_foil_coco)
        ),
        _protocol_foil_coco(
            "one-ref",
            references=Rule(
                "the first of the image's, without the correct caption",
                lambda item: _other_references_foil_coco(item)[:1],
            ),
        ),
    ),
    (coco_pairs((_FOIL,), _COCO, _pairs_foil_coco, _other_references_foil_coco),),
    "foilunitn.github.io; COCO's annotations",
)


# nocaps-FOIL: a caption of nocaps and one in which an object was replaced by another. Petryk et al. 2024 (ALOHa).
#
# ALOHa's paper reports the average precision of metrics in detecting captions with a wrong object, over all images and
# for each of nocaps' domains. The forced choice of FOIL-COCO is a separate protocol.

_FILE_NOCAPS_FOIL = "aloha/nocaps-val-foil.json"
_DOMAINS = ("in-domain", "near-domain", "out-domain")


def _items_nocaps_foil(
    protocol: Protocol, records: list[dict[str, Any]], folder: DataFolder
) -> list[CaptionPair] | list[RatedCaption]:
    """Return pairs of ``[{"image_path", "references", "baseline", "foil", "domain"}]``, or their single captions: 1 for
    the correct one, 0 for the other.
    """
    if protocol.of == "pairs":
        return [
            CaptionPair(r["image_path"], (r["baseline"], r["foil"]), 0, r["references"], r["domain"]) for r in records
        ]
    return [
        RatedCaption(
            f"{number}|{r['image_path']}|{kind}", r["image_path"], r[kind], r["references"], [correct], r["domain"]
        )
        for number, r in enumerate(records, start=1)
        for kind, correct in (("baseline", 1), ("foil", 0))
    ]


_by_domain = partial(
    Protocol, "nocaps-foil", ratings="known", parts=Rule("nocaps domains", attrgetter("part")), part_order=_DOMAINS
)

NOCAPS_FOIL = Benchmark(
    "nocaps-foil",
    (
        Protocol("nocaps-foil", "overall", "average-precision", "known", "captions", source="Petryk et al. 2024"),
        _by_domain("domains", statistic="average-precision", of="captions", source="Petryk et al. 2024"),
        _by_domain("forced-choice", statistic="accuracy", of="pairs"),
    ),
    (Files((_FILE_NOCAPS_FOIL,), lambda folder: folder.json(_FILE_NOCAPS_FOIL)),),
    "DavidMChan/aloha on GitHub, data",
    items=_items_nocaps_foil,
)


# SugarCrepe: a correct caption and an altered one, with seven kinds of alterations. Hsieh et al. 2023.
#
# Its files have no references: COCO's captions are used, of val2017 or of val2014, which has the same images.

#: The kinds of change, a file each.
CHANGES = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
_NORMALIZED = tuple(f"sugarcrepe/{change}.jsonl" for change in CHANGES)
_PUBLISHED = tuple(f"sugarcrepe/{change}.json" for change in CHANGES)


def _other_references(item: CaptionPair) -> list[str]:
    """Return the references that differ in letters or digits from the right caption and the one it was made of."""
    right = item.captions[item.preferred]
    return without(item.references, right, item.facts.get("original", right))


def _read_normalized(folder: DataFolder) -> list[CaptionPair]:
    return [
        CaptionPair(r["image_id"], (r["pos"], r["neg"]), 0, r["refs"], change)
        for change, name in zip(CHANGES, _NORMALIZED, strict=True)
        for r in folder.records(name)
    ]


def _pairs_sugarcrepe(folder: DataFolder) -> Iterator[tuple[str, CaptionPair]]:
    """Read ``{"0": {"filename": "000000085329.jpg", "caption": ..., "negative_caption": ...}}`` from every file."""
    for change, name in zip(CHANGES, _PUBLISHED, strict=True):
        for key, entry in folder.entries(name, ("filename", "caption", "negative_caption")):
            where = folder.place(name, f"entry {key!r}")
            texts = (str(entry["caption"]), str(entry["negative_caption"]))
            yield where, CaptionPair(coco_image(entry["filename"], where), texts, 0, (), change)


SUGARCREPE = Benchmark(
    "sugarcrepe",
    (
        _choice(
            "sugarcrepe",
            "forced-choice",
            references=Rule("the image's references, without the correct caption", _other_references),
            parts=Rule("kinds of change", attrgetter("part")),
            part_order=CHANGES,
            source="Hsieh et al. 2023",
        ),
    ),
    (
        Files(_NORMALIZED, _read_normalized),
        *(coco_pairs(_PUBLISHED, coco, _pairs_sugarcrepe, _other_references) for coco in COCO_CAPTIONS),
    ),
    "Hsieh et al. 2023",
)


# SugarCrepe++: two captions with the same meaning, and one with similar words but another meaning. Dumpala et al.
# 2024.
#
# ``text-only`` compares only texts: the first caption is the reference, and a metric is right if it scores the second
# one higher than the negative one. ``forced-choice`` is that of SugarCrepe: each of the two captions is compared with
# the negative one, with COCO's other captions of the image as references.

_CHANGES = ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
_FILES_SUGARCREPE_PP = tuple(f"scpp/{change}.json" for change in _CHANGES)


def _read_sugarcrepe_pp(folder: DataFolder) -> list[CaptionPair]:
    """Read ``[{"filename": "000000331352.jpg", "caption", "caption2", "negative_caption"}]`` from every file, as pairs
    whose reference is the first caption.
    """
    return [
        CaptionPair(
            str(r["filename"]), (r["caption2"], r["negative_caption"]), 0, [r["caption"]], change, {"where": where}
        )
        for change, name in zip(_CHANGES, _FILES_SUGARCREPE_PP, strict=True)
        for _, where, r in folder.placed_records(name, ())
    ]


def _items_sugarcrepe_pp(protocol: Protocol, pairs: list[CaptionPair], folder: DataFolder) -> list[CaptionPair]:
    if protocol.name != "forced-choice":
        return pairs
    captions = read_coco_captions(folder, coco_captions_file(folder))
    choices = []
    for pair in pairs:
        (first,), (second, negative), where = pair.references, pair.captions, pair.facts["where"]
        image = coco_image(pair.image, where)
        references = without(entry_of(captions, image, where), first)
        choices += [CaptionPair(image, (text, negative), 0, references, pair.part) for text in (first, second)]
    return choices


_protocol_sugarcrepe_pp = partial(
    _choice, "sugarcrepe-pp", parts=Rule("kinds of change", attrgetter("part")), part_order=_CHANGES
)
_TEXT_ONLY = _protocol_sugarcrepe_pp(
    "text-only", references=Rule("the first caption", attrgetter("references")), source="Dumpala et al. 2024"
)

SUGARCREPE_PP = Benchmark(
    "sugarcrepe-pp",
    (
        _TEXT_ONLY,
        replace(_TEXT_ONLY, name="pooled", parts=None, part_order=()),
        _protocol_sugarcrepe_pp(
            "forced-choice",
            references=Rule("COCO's captions of the image, without the first caption", attrgetter("references")),
            source="as SugarCrepe, Hsieh et al. 2023",
        ),
    ),
    (Files(_FILES_SUGARCREPE_PP, _read_sugarcrepe_pp),),
    "Sri-Harsha/scpp on GitHub, data; for forced-choice also COCO's captions_val2017.json or captions_val2014.json",
    items=_items_sugarcrepe_pp,
)


# VALSE: a caption of COCO and a foil, by linguistic phenomenon. Parcalabescu et al. 2022.
#
# Three of its parts are about images with captions of COCO: plurals, relations, and nouns (those of FOIL). As in the
# paper, only foils that at least two of three people recognized are used. References are COCO's other captions of the
# image, so that reference-based metrics can be compared as well.

_PIECES = ("plurals", "relations", "foil-it")
_FILES_VALSE = tuple(f"valse/{piece}.json" for piece in _PIECES)
_KEYS = ("image_file", "caption", "foil", "mturk")
_AGREED = 2  # annotators, out of three


def _pairs_valse(folder: DataFolder) -> Iterator[tuple[str, CaptionPair]]:
    """Read ``{key: {"image_file", "caption", "foil", "orig_caption", "mturk": {"caption": 3, "foil": 0, "other":
    0}}}``.
    """
    for piece, name in zip(_PIECES, _FILES_VALSE, strict=True):
        for key, entry in folder.entries(name, _KEYS):
            where = folder.place(name, f"entry {key!r}")
            image, texts = coco_image(entry["image_file"], where), (entry["caption"], entry["foil"])
            facts = {"votes": entry["mturk"]["caption"], "original": entry.get("orig_caption", entry["caption"])}
            yield where, CaptionPair(image, texts, 0, (), piece, facts)


def _is_unclear(item: CaptionPair) -> bool:
    return bool(item.facts["votes"] < _AGREED)


def _is_not(piece: str, item: CaptionPair) -> bool:
    return item.part != piece or _is_unclear(item)


_UNCLEAR = "foils that fewer than two of three people recognized"
_ALL = _choice(
    "valse",
    "forced-choice",
    references=Rule("COCO's captions of the image, without the one that was changed", _other_references),
    excluded=Rule(_UNCLEAR, _is_unclear),
    parts=Rule("pieces", attrgetter("part")),
    part_order=_PIECES,
    source="Parcalabescu et al. 2022",
)

VALSE = Benchmark(
    "valse",
    (
        _ALL,
        *(
            replace(
                _ALL,
                name=piece,
                parts=None,
                part_order=(),
                excluded=Rule(f"other pieces; {_UNCLEAR}", partial(_is_not, piece)),
            )
            for piece in _PIECES
        ),
    ),
    tuple(coco_pairs(_FILES_VALSE, coco, _pairs_valse, _other_references) for coco in COCO_CAPTIONS),
    "Heidelberg-NLP/VALSE on GitHub, data; COCO's annotations",
)
