"""Captions that people rated or marked: Composite, HAT, Nebula, Polaris, THumB 1.0 and VATEX-EVAL."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from captious.errors import CaptionFileError
from captious.judgment import DataFolder, Protocol, RatedCaption
from captious.judgment.files import entry_of, number_within
from captious.judgment.items import letters, words
from captious.words import counted

# Composite: captions of people and machines for images of Flickr8k, Flickr30k and COCO, rated 1 to 5.
#
# Aditya et al. 2015. One caption of each image is a human reference (slot 1), which is not passed to metrics.


def without_rated(item: RatedCaption) -> Sequence[str]:
    """Return the references that differ from the rated one in letters or digits; all of them if none does."""
    rated_one = letters(item.facts["rated"])
    return [text for text in item.references if letters(text) != rated_one] or item.references


def of_other_words(item: RatedCaption) -> Sequence[str]:
    """Return the references whose words differ from those of the rated one; all of them if none does.

    49 images keep it: they have "children's" among the references, and "childrens" as the rated caption.
    """
    return [text for text in item.references if words(text) != words(item.facts["rated"])] or item.references


def without_judged(item: RatedCaption) -> Sequence[str]:
    """Return the references that differ from the judged caption in letters or digits; all of them if none does."""
    return [text for text in item.references if letters(text) != letters(item.candidate)] or item.references


def items_composite(protocol: Protocol, items: Sequence[RatedCaption], folder: DataFolder) -> list[RatedCaption]:
    rated_of = {item.image: item.candidate for item in items if item.facts["slot"] == 1}
    return [replace(item, facts={**item.facts, "rated": rated_of.get(item.image, "")}) for item in items]


# HAT: machine captions of COCO's images with human marks of hallucinated objects. Petryk et al. 2024 (ALOHa).
#
# The paper reports the average precision of metrics in detecting captions with a hallucination. The
# localization of the hallucinated word, which the paper reports as well, needs more than a score per caption.
#
# The format is taken from the owners' file; the protocol has not been run on all of it. The file in the repository has
# the captions that the authors used for tuning (train and validation).


def has_none(label: object, where: str) -> int:
    """Return 1 for a caption without hallucinations, 0 for another."""
    if not isinstance(label, bool):
        message = "contains_hallucination is neither true nor false"
        raise CaptionFileError(message, where=where, hint="download the file again")
    return int(not label)


def at_least_0(value: object, where: str) -> float:
    """Return a rating that must not be negative."""
    return number_within(value, 0, None, where)


# Nebula: crowdsourced ratings of machine and human captions with references. Matsuda et al. 2024 (DENEB).
#
# Only the test split is used; the others are for training. The images in the files are not read. Some ratings were
# corrected later in the files of Spica, by image and caption; protocols whose names begin with "corrected-" use those.
#
# The formats are taken from the description of the owners' files and from a program that reads both; the protocols have
# not been run on the files.

_CORRECTIONS = tuple(f"nebula/spica_{split}.csv" for split in ("train", "val", "test"))


def items_nebula(protocol: Protocol, items: Sequence[RatedCaption], folder: DataFolder) -> Sequence[RatedCaption]:
    if not protocol.name.startswith("corrected-"):
        return items
    corrected: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for name in _CORRECTIONS:
        for _, where, row in folder.placed_records(name, ("imgid", "mt", "score")):
            corrected[_key(row["imgid"], row["mt"])].append(at_least_0(row["score"], where))
    means = {key: sum(ratings) / len(ratings) for key, ratings in corrected.items()}
    return [
        replace(item, ratings=[means.get(_key(str(item.image), item.candidate), item.ratings[0])]) for item in items
    ]


def _key(image: str, caption: str) -> tuple[str, str]:
    """Return the key of corrections: the image without its extension, and the words of the caption."""
    return PurePath(image).stem, " ".join(caption.split())


# Polaris: ratings from 0 to 1 of captions by ten systems and by people. Wada et al. 2024 (Polos).
#
# Only the test split is used; the others are for training. References are written as a Python list in one cell.
#
# The format is taken from the owners' program; the protocols have not been run on their files.


def parsed_texts(cell: str, where: str) -> list[str]:
    """Parse the texts of a Python list; only literals are evaluated."""
    try:
        texts = ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        texts = None
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise CaptionFileError(
            "the references are not a list of texts", where=where, hint="they are written as ['a cat', 'the cat']"
        )
    return texts


# THumB 1.0: expert ratings of precision and recall of COCO captions. Kasai et al. 2022.
#
# Four systems and people, 500 captions each. Precision and recall are rated from 1 to 5; the total is their mean, minus
# penalties for fluency, conciseness and non-inclusive language. There are four references: COCO's without the one that
# is judged as the fifth system.
#
# The format is taken from the owners' files; the protocols have not been run on them.

_FIELDS = {"total": "human_score", "precision": "P", "recall": "R"}


def read_thumb(folder: DataFolder, name: str, references_name: str) -> list[RatedCaption]:
    """Read ``{"SYS", "seg_id", "hyp", "image", "P", "R", "human_score"}``, and lines of ``{"seg_id", "refs"}``, in
    spite of the name of their file.
    """
    references = {str(r["seg_id"]): r["refs"] for r in folder.records(references_name)}
    items = []
    for line, r in folder.numbered_records(name):
        where = folder.place(name, line)
        facts = {name: number_within(r[field], -10, 5, where) for name, field in _FIELDS.items()}
        id, texts = f"{r['seg_id']}|{r['SYS']}", entry_of(references, str(r["seg_id"]), where)
        items.append(RatedCaption(id, r["image"], r["hyp"], texts, (), facts={"system": r["SYS"], **facts}))
    return items


# VATEX-EVAL: ratings of video captions from 1 to 5 by three annotators each. Shi et al. 2022 (EMScore).
#
# The statistic is computed for each annotator and averaged. The authors round scores to four decimals first, which
# causes a few more ties; that is not done here.
#
# The format is taken from the owners' program, which reads four pickles of numpy arrays; the protocols have not been
# run on their files. Pickles are read as data: no callable in them is called.

_ANNOTATORS = 3


def read_vatex_eval(folder: DataFolder, *names: str) -> list[RatedCaption]:
    """Read candidates [n], references [n, 9], scores [3 n], annotator after annotator, and videos [n]."""
    candidates, references, scores, videos = (_listed(folder.pickle(name)) for name in names)
    ratings = np.array(scores, dtype=np.float64).reshape(_ANNOTATORS, -1).T
    if not len(candidates) == len(references) == len(ratings) == len(videos):
        raise CaptionFileError(
            f"{counted(len(candidates), 'candidate')}, references of {len(references):,}, ratings of "
            f"{len(ratings):,} and {counted(len(videos), 'video')}",
            where=f"{folder.folder}: {', '.join(names)}",
            hint="get the files of one release",
        )
    return [
        RatedCaption(f"{number}|{video}", video, candidate, texts, own_ratings.tolist())
        for number, (video, candidate, texts, own_ratings) in enumerate(
            zip(videos, candidates, references, ratings, strict=True), start=1
        )
    ]


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def first_references(item: RatedCaption, most: int) -> list[str]:
    """Return the first references, at most this many."""
    return [*item.references[:most]]
