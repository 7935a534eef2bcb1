"""Long descriptions: FactVC, paragraphs about videos, and ImageInWords, descriptions of images in detail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.judgment.files import entry_of, number_within
from captious.judgment.judgments import system_protocols

# FactVC: factuality of machine descriptions of videos. Liu and Wan 2023.
#
# People rated paragraphs of six systems on ActivityNet Captions and on YouCook2, 1 to 5, and marked wrong words:
# ``[words]`` in the file, where the brackets are not part of the text. A candidate is a whole paragraph, and the
# references are the human paragraphs of the video. The protocols of sentences are ours: of two sentences of one
# paragraph, one of which has wrong words, a metric should score the other higher.

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


def _read_factvc(folder: DataFolder) -> list[_Paragraph]:
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


def _items_factvc(
    protocol: Protocol, paragraphs: Sequence[_Paragraph], folder: DataFolder
) -> list[RatedCaption] | list[CaptionPair]:
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


def _protocols_factvc(data_set: str) -> list[Protocol]:
    rated = [
        _protocol(f"{name}-{data_set}", statistic=statistic, ratings="given", of="captions", source=_SOURCE)
        for name, statistic in _STATISTICS.items()
    ]
    systems = system_protocols(rated[0], f"-{data_set}")
    sentences = _protocol(f"sentences-{data_set}", statistic="accuracy", ratings="known", of="pairs")
    return [*rated, *systems, sentences]


FACTVC = Benchmark(
    "factvc",
    tuple(protocol for data_set in _RATINGS for protocol in _protocols_factvc(data_set)),
    (Files((*_RATINGS.values(), *(file for files in _REFERENCES.values() for file in files)), _read_factvc),),
    "PKU-ONELab/FactVC on GitHub",
    items=_items_factvc,
)


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
#: By data set: the description that is scored against the other one.
_CANDIDATES = {"iiw-400": 1, "docci": 0}
_NEUTRAL = "Neutral"


@dataclass(frozen=True)
class _Comparison:
    """Two descriptions of an image, and by criterion, how much better the second one is, -2 to 2."""

    data_set: str
    image: str
    texts: tuple[str, str]
    verdicts: Mapping[str, int]


def _read_iiw(folder: DataFolder) -> list[_Comparison]:
    """Read lines of ``{"IIW": ..., "DOCCI": ..., "metrics/Specificity": "IIW is marginally better"}``."""
    return [comparison for data_set in _FORMS for comparison in _comparisons(folder, data_set)]


def _comparisons(folder: DataFolder, data_set: str) -> Iterator[_Comparison]:
    file, image, fields, nested, names = _FORMS[data_set]
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
        yield _Comparison(data_set, record[image], (record[fields[0]], record[fields[1]]), verdicts)


def _items_iiw(
    protocol: Protocol, comparisons: Sequence[_Comparison], folder: DataFolder
) -> list[CaptionPair] | list[RatedCaption]:
    if protocol.of == "pairs":
        return [
            CaptionPair(c.image, c.texts, int(v > 0), (), criterion, {"data set": c.data_set, "neutral": v == 0})
            for c in comparisons
            for criterion, v in c.verdicts.items()
        ]
    rated = []
    for c in comparisons:
        if protocol.name.startswith(f"kendall-{c.data_set}"):
            place = _CANDIDATES[c.data_set]
            ratings = {criterion: float(v if place else -v) for criterion, v in c.verdicts.items()}
            candidate, reference = c.texts[place], c.texts[1 - place]
            rated.append(RatedCaption(c.image, c.image, candidate, [reference], [*ratings.values()], facts=ratings))
    return rated


def _left_out(data_set: str, criterion: str | None, item: CaptionPair) -> bool:
    is_other = item.facts["data set"] != data_set or criterion not in (None, item.part)
    return bool(is_other or item.facts["neutral"])


def _mean(item: RatedCaption) -> float:
    return sum(item.ratings) / len(item.ratings)


def _criterion_rating(criterion: str, item: RatedCaption) -> float:
    return float(item.facts[criterion])


def _reference_protocols(data_set: str) -> list[Protocol]:
    """Return protocols of Kendall's tau-b with the mean over criteria, and with each of them."""
    texts = _FORMS[data_set][2]
    place = _CANDIDATES[data_set]
    every = Protocol(
        "iiw",
        f"kendall-{data_set}",
        "kendall-tau-b",
        "given",
        "captions",
        references=Rule(
            f"the description of {texts[1 - place]}; that of {texts[place]} is judged", attrgetter("references")
        ),
        measure=Rule("mean over criteria, -2 to 2", _mean),
    )
    by_criterion = [
        replace(
            every,
            name=f"kendall-{data_set}-{criterion}",
            measure=Rule(f"{criterion}, -2 to 2", partial(_criterion_rating, criterion)),
        )
        for criterion in _CRITERIA
    ]
    return [every, *by_criterion]


def _protocols_iiw(data_set: str) -> list[Protocol]:
    """Return protocols of accuracy over all criteria, as their mean, and by each of them."""
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
    by_criterion = [
        replace(
            every,
            name=f"{data_set}-{criterion}",
            excluded=Rule("neutral judgments", partial(_left_out, data_set, criterion)),
            parts=None,
            part_order=(),
        )
        for criterion in _CRITERIA
    ]
    return [every, *by_criterion]


IIW = Benchmark(
    "iiw",
    (
        *(protocol for data_set in reversed(_FORMS) for protocol in _reference_protocols(data_set)),
        *(protocol for data_set in _FORMS for protocol in _protocols_iiw(data_set)),
    ),
    (Files(tuple(file for file, *_ in _FORMS.values()), _read_iiw),),
    "google/imageinwords on GitHub, datasets",
    items=_items_iiw,
)
