"""ImageInWords: which of two long descriptions of an image do people prefer, by five criteria? Garg et al. 2024.

IIW-400 compares descriptions that people wrote with those of a model that was trained on such (IIW-P5B); DOCCI_Test
compares them with DOCCI's. Metrics get no references, because each description would be one only for the other. Other
comparisons of the paper, with GPT-4V and with DCI, are in files without the other description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, Rule

__all__ = ["IIW"]

#: The names of criteria, and what the files call them.
_CRITERIA = {
    "comprehensiveness": "Comprehensiveness",
    "specificity": "Specificity",
    "hallucination": "Hallucination",
    "first-lines": "First few line(s) as tldr",
    "human-like": "Human Like",
}
#: By data set: the fields of the two descriptions, that of the judgments, and what these call the descriptions.
_FORMS = {
    "iiw-400": (
        "iiw/IIW-400.jsonl",
        "image/key",
        ("IIW", "IIW-P5B"),
        "iiw-human-sxs-iiw-p5b",
        ("IIW-Human", "IIW-P5B"),
    ),
    "docci": ("iiw/DOCCI_Test.jsonl", "image", ("IIW", "DOCCI"), None, ("IIW", "DOCCI")),
}
_NEUTRAL = "Neutral"


def _read(folder: DataFolder) -> list[CaptionPair]:
    """``{"IIW": ..., "DOCCI": ..., "metrics/Specificity": "IIW is marginally better"}`` on every line."""
    return [pair for data_set in _FORMS for pair in _pairs(folder, data_set)]


def _pairs(folder: DataFolder, data_set: str) -> Iterator[CaptionPair]:
    file, image, fields, nested, names = _FORMS[data_set]
    for line, record in folder.numbered_records(file):
        judged: Mapping[str, Any] | None = record if nested is None else record.get(nested)
        if judged is None:  # only some descriptions were compared
            continue
        texts = (record[fields[0]], record[fields[1]])
        for criterion, key in _CRITERIA.items():
            verdict = judged[f"metrics/{key}"]
            found = re.fullmatch("(.+) is (?:marginally|substantially) better", verdict)
            if verdict != _NEUTRAL and (found is None or found[1] not in names):
                raise folder.error(f"{verdict!r} is not a judgment of {' and '.join(names)}", file, line)
            facts = {"data set": data_set, "neutral": found is None}
            preferred = 0 if found is None else names.index(found[1])
            yield CaptionPair(record[image], texts, preferred, (), criterion, facts)


def _left_out(data_set: str, criterion: str | None, item: CaptionPair) -> bool:
    is_other = item.facts["data set"] != data_set or criterion not in (None, item.part)
    return bool(is_other or item.facts["neutral"])


def _protocols(data_set: str) -> list[Protocol]:
    """Accuracy over all criteria, as their mean, and by each of them."""
    every = Protocol(
        "iiw",
        data_set,
        "accuracy",
        "majority",
        "pairs",
        references=Rule("none", attrgetter("references")),
        excluded=Rule("neutral judgments", partial(_left_out, data_set, None)),
        parts=Rule("criteria", attrgetter("part")),
        part_order=tuple(_CRITERIA),
        source="Garg et al. 2024",
    )
    each = [
        replace(
            every,
            name=f"{data_set}-{criterion}",
            excluded=Rule("neutral judgments", partial(_left_out, data_set, criterion)),
            parts=None,
            part_order=(),
        )
        for criterion in _CRITERIA
    ]
    return [every, *each]


IIW = Benchmark(
    "iiw",
    tuple(protocol for data_set in _FORMS for protocol in _protocols(data_set)),
    (Files(tuple(file for file, *_ in _FORMS.values()), _read),),
    "google/imageinwords on GitHub, datasets",
)
