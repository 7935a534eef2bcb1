"""FactVC: factuality of machine descriptions of videos. Liu and Wan 2023.

People rated paragraphs of six systems on ActivityNet Captions and on YouCook2, 1 to 5, and marked wrong words:
``[words]`` in the file, where the brackets are not part of the text. A candidate is a whole paragraph, and the
references are the human paragraphs of the video. The protocols of sentences are ours: of two sentences of one
paragraph, one of which has wrong words, a metric should score the other higher.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.judgment.files.judgment_files import entry_of, number_within
from captious.judgment.protocols import system_protocols

#: The files of references by data set.
_REFERENCES = {
    "activitynet": ("factvc/activitynet_gt_1_para.json", "factvc/activitynet_gt_2_para.json"),
    "youcook2": ("factvc/youcook2_gt_para.json",),
}
_RATINGS = {name: f"factvc/{name}_factuality_annotation.json" for name in _REFERENCES}
_STATISTICS = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall-tau-b"}
_SOURCE = "Liu and Wan 2023"


@dataclass(frozen=True)
class _Paragraph:
    data_set: str
    video: str
    system: str
    rating: float
    sentences: Sequence[str]
    references: Sequence[str]


def _read(folder: DataFolder) -> list[_Paragraph]:
    """Read ``{video: {system: {"paragraph_score": 4, "sentences": ["a [dog] runs"]}}}``, and ``{video: paragraph}``."""
    paragraphs = []
    for data_set, name in _RATINGS.items():
        texts: dict[str, list[str]] = {}
        for file in _REFERENCES[data_set]:
            for video, text in folder.json(file).items():
                texts.setdefault(video, []).append(text)
        for video, systems in folder.entries(name, ()):
            where = folder.place(name, f"entry {video!r}")
            references = entry_of(texts, video, where)
            for system, judged in systems.items():
                rating = number_within(judged["paragraph_score"], 1, 5, f"{where}, {system}")
                paragraphs.append(_Paragraph(data_set, video, system, rating, judged["sentences"], references))
    return paragraphs


def _items(protocol: Protocol, paragraphs: Sequence[_Paragraph]) -> list[RatedCaption] | list[CaptionPair]:
    paragraphs = [paragraph for paragraph in paragraphs if protocol.name.endswith(paragraph.data_set)]
    if protocol.of == "pairs":
        return [
            CaptionPair(paragraph.video, (_plain(right), _plain(wrong)), 0, paragraph.references)
            for paragraph in paragraphs
            for right in paragraph.sentences
            for wrong in paragraph.sentences
            if "[" in wrong and "[" not in right
        ]
    return [
        RatedCaption(
            f"{paragraph.video}|{paragraph.system}",
            paragraph.video,
            " ".join(map(_plain, paragraph.sentences)),
            paragraph.references,
            [paragraph.rating],
            facts={"system": paragraph.system},
        )
        for paragraph in paragraphs
    ]


def _plain(sentence: str) -> str:
    """Return a sentence without the marks of wrong words."""
    return re.sub(r"[\[\]]", "", sentence)


_protocol: Any = partial(
    Protocol,
    "factvc",
    references=Rule("the paragraphs of the video that people wrote", lambda item: item.references),
)


def _protocols(data_set: str) -> list[Protocol]:
    rated = [
        _protocol(f"{name}-{data_set}", statistic=statistic, ratings="given", of="captions", source=_SOURCE)
        for name, statistic in _STATISTICS.items()
    ]
    systems = system_protocols(rated[0], f"-{data_set}")
    sentences = _protocol(f"sentences-{data_set}", statistic="accuracy", ratings="known", of="pairs")
    return [*rated, *systems, sentences]


FACTVC = Benchmark(
    "factvc",
    tuple(protocol for data_set in _RATINGS for protocol in _protocols(data_set)),
    (Files((*_RATINGS.values(), *(file for files in _REFERENCES.values() for file in files)), _read),),
    "PKU-ONELab/FactVC on GitHub",
    items=_items,
)
