"""Long descriptions: FactVC, paragraphs about videos, and ImageInWords, descriptions of images in detail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from captious.judgment import CaptionPair, DataFolder, Protocol, RatedCaption
from captious.judgment.files import entry_of, number_within

# FactVC: factuality of machine descriptions of videos. Liu and Wan 2023.
#
# People rated paragraphs of six systems on ActivityNet Captions and on YouCook2, 1 to 5, and marked wrong words:
# ``[words]`` in the file, where the brackets are not part of the text. A candidate is a whole paragraph, and the
# references are the human paragraphs of the video. The protocols of sentences are ours: of two sentences of one
# paragraph, one of which has wrong words, a metric should score the other higher.

#: Between the names of data sets and of their files.
_RATINGS = "_factuality_annotation"


def read_factvc(folder: DataFolder, *names: str) -> list[RatedCaption]:
    """Read ``{video: {system: {"paragraph_score": 4, "sentences": ["a [dog] runs"]}}}``, and ``{video: paragraph}``."""
    items = []
    for name in (name for name in names if _RATINGS in name):
        data_set = PurePath(name).stem.removesuffix(_RATINGS)
        texts: dict[str, list[str]] = {}
        for file in (file for file in names if PurePath(file).stem.startswith(f"{data_set}_gt")):
            for video, text in folder.json(file).items():
                texts.setdefault(video, []).append(text)
        for video, systems in folder.entries(name, ()):
            where = folder.place(name, f"entry {video!r}")
            references = entry_of(texts, video, where)
            for system, judged in systems.items():
                rating = number_within(judged["paragraph_score"], 1, 5, f"{where}, {system}")
                text = _plain(" ".join(judged["sentences"]))
                facts = {"system": system, "sentences": judged["sentences"]}
                items.append(RatedCaption(f"{video}|{system}", video, text, references, [rating], data_set, facts))
    return items


def items_factvc(
    protocol: Protocol, items: Sequence[RatedCaption], folder: DataFolder
) -> list[RatedCaption] | list[CaptionPair]:
    items = [item for item in items if protocol.name.endswith(item.part)]
    if protocol.of == "captions":
        return items
    return [
        CaptionPair(item.image, (_plain(right), _plain(wrong)), 0, item.references)
        for item in items
        for right in item.facts["sentences"]
        for wrong in item.facts["sentences"]
        if "[" in wrong and "[" not in right
    ]


def _plain(sentence: str) -> str:
    """Return a sentence without the marks of wrong words."""
    return re.sub(r"[\[\]]", "", sentence)


# ImageInWords: preferences between two long descriptions of an image, by five criteria. Garg et al. 2024.
#
# IIW-400 compares human descriptions with those of a model trained on such descriptions (IIW-P5B); DOCCI_Test compares
# them with DOCCI's. In the paper's protocols, metrics get no references, as each description could only be a reference
# for the other. In ours, whose names begin with "kendall-", one description is the reference, and the score of the
# other is compared with its relative rating. Other comparisons of the paper, with GPT-4V and with DCI, are in files
# without the other description.

#: The names of criteria, and what the files call them.
_CRITERIA = {
    "comprehensiveness": "Comprehensiveness",
    "specificity": "Specificity",
    "hallucination": "Hallucination",
    "first-lines": "First few line(s) as tldr",
    "human-like": "Human Like",
}
#: By data set: the fields of the image, of the two descriptions and of the judgments, and what these call the two.
_FORMS = {
    "iiw-400": (
        "image/key",
        ("IIW", "IIW-P5B"),
        "iiw-human-sxs-iiw-p5b",
        ("IIW-Human", "IIW-P5B"),
    ),
    "docci": ("image", ("IIW", "DOCCI"), None, ("IIW", "DOCCI")),
}
#: By data set: the description that is scored against the other one.
_CANDIDATES = {"iiw-400": 1, "docci": 0}
_NEUTRAL = "Neutral"


def read_iiw(folder: DataFolder, *names: str) -> list[CaptionPair]:
    """Read lines of ``{"IIW": ..., "DOCCI": ..., "metrics/Specificity": "IIW is marginally better"}``.

    The facts of a pair are, by criterion, how much better its second description is, -2 to 2; its part is the data set.
    """
    return [pair for data_set, name in zip(_FORMS, names, strict=True) for pair in _compared(folder, data_set, name)]


def _compared(folder: DataFolder, data_set: str, file: str) -> Iterator[CaptionPair]:
    image, (first, second), nested, names = _FORMS[data_set]
    for line, record in folder.numbered_records(file):
        judged: Mapping[str, Any] | None = record if nested is None else record.get(nested)
        if judged is None:  # only some descriptions were compared
            continue
        verdicts = {}
        for criterion, key in _CRITERIA.items():
            verdict = judged[f"metrics/{key}"]
            match = re.fullmatch("(.+) is (marginally|substantially) better", verdict)
            if verdict != _NEUTRAL and (match is None or match[1] not in names):
                raise folder.error(f"{verdict!r} is not a judgment of {' and '.join(names)}", file, line)
            verdicts[criterion] = 0
            if match is not None:
                difference = 2 if match[2] == "substantially" else 1
                verdicts[criterion] = difference if match[1] == names[1] else -difference
        yield CaptionPair(record[image], (record[first], record[second]), 0, (), data_set, verdicts)


def items_iiw(
    protocol: Protocol, pairs: Sequence[CaptionPair], folder: DataFolder
) -> list[CaptionPair] | list[RatedCaption]:
    if protocol.of == "pairs":
        return [
            replace(pair, preferred=int(v > 0), part=criterion, facts={"data set": pair.part, "neutral": v == 0})
            for pair in pairs
            for criterion, v in pair.facts.items()
        ]
    rated = []
    for pair in pairs:
        if protocol.name.startswith(f"kendall-{pair.part}"):
            place = _CANDIDATES[pair.part]
            ratings = {criterion: float(v if place else -v) for criterion, v in pair.facts.items()}
            candidate, reference = pair.captions[place], pair.captions[1 - place]
            id = str(pair.image)
            rated.append(RatedCaption(id, id, candidate, [reference], [*ratings.values()], facts=ratings))
    return rated


def is_left_out(item: CaptionPair, data_set: str, criterion: str = "") -> bool:
    """Return whether a judgment is neutral, of another data set, or by another criterion than a named one."""
    is_other = item.facts["data set"] != data_set or criterion not in ("", item.part)
    return bool(is_other or item.facts["neutral"])


def rating_by(item: RatedCaption, criterion: str = "") -> float:
    """Return the rating by a criterion, or the mean over criteria."""
    return float(item.facts[criterion]) if criterion else sum(item.ratings) / len(item.ratings)
