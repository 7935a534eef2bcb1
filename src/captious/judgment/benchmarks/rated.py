"""Captions that people rated or marked: Composite, HAT, Nebula, Polaris, THumB 1.0 and VATEX-EVAL."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from captious.errors import CaptionFileError
from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.judgment.benchmarks.benchmark import TOOLKIT, at_least_0, figures, rated
from captious.judgment.files import entry_of, number_within
from captious.judgment.items import letters, words
from captious.judgment.judgments import NOTHING, system_protocols
from captious.words import counted

# Composite: captions of people and machines for images of Flickr8k, Flickr30k and COCO, rated 1 to 5.
#
# Aditya et al. 2015. One caption of each image is a human reference (slot 1), which is not passed to metrics.


def _other_references(item: RatedCaption) -> Sequence[str]:
    """Return the references that differ from the rated one in letters or digits; all of them if none does."""
    rated_one = letters(item.facts["rated"])
    return [text for text in item.references if letters(text) != rated_one] or item.references


def _of_other_words(item: RatedCaption) -> Sequence[str]:
    """Return the references whose words differ from those of the rated one; all of them if none does.

    49 images keep it: they have "children's" among the references, and "childrens" as the rated caption.
    """
    return [text for text in item.references if words(text) != words(item.facts["rated"])] or item.references


def _unjudged(item: RatedCaption) -> Sequence[str]:
    """Return the references that differ from the judged caption in letters or digits; all of them if none does."""
    return [text for text in item.references if letters(text) != letters(item.candidate)] or item.references


def _items_composite(protocol: Protocol, items: Sequence[RatedCaption], folder: DataFolder) -> list[RatedCaption]:
    rated_of = {item.image: item.candidate for item in items if item.facts["slot"] == 1}
    return [replace(item, facts={**item.facts, "rated": rated_of.get(item.image, "")}) for item in items]


_protocol_composite = partial(
    Protocol,
    "composite",
    ratings="given",
    of="captions",
    references=Rule("the image's references, without the one that is itself rated", _other_references),
)

COMPOSITE = Benchmark(
    "composite",
    (
        _protocol_composite("hessel2021", statistic="kendall-tau-c", source="Hessel et al. 2021"),
        _protocol_composite(
            "yi2020",
            statistic="kendall-tau-c",
            references=Rule("the image's references, without the judged caption itself", _unjudged),
            digits=6,
            source="Yi et al. 2020, table 3",
        ),
        *(
            _protocol_composite(
                f"sharif2019-{name}",
                statistic=statistic,
                references=Rule("the image's references, without the rated one if words are equal", _of_other_words),
                excluded=Rule("the third caption of each image (slot 3)", lambda item: item.facts["slot"] == 3),
                source="Sharif et al. 2019",
            )
            for name, statistic in (("pearson", "pearson"), ("spearman", "spearman"), ("tau-b", "kendall-tau-b"))
        ),
    ),
    (rated("composite/composite.jsonl", "{source}|{image}|{slot}", ("image", "candidate", "refs", "human")),),
    "Aditya et al. 2015",
    items=_items_composite,
    published={
        "hessel2021": figures(
            TOOLKIT,
            {
                "bleu-1": 31.321, "bleu-4": 30.574, "rouge-l": 32.448, "meteor": 38.916, "cider-d": 37.692,
                "spice": 40.352,
            },
        )
        | figures("Hessel et al. 2021", {"clipscore": 53.8}),
    },
)  # fmt: skip


# HAT: machine captions of COCO's images with human marks of hallucinated objects. Petryk et al. 2024 (ALOHa).
#
# The paper reports the average precision of metrics in detecting captions with a hallucination. The
# localization of the hallucinated word, which the paper reports as well, needs more than a score per caption.
#
# The format is taken from the owners' file; the protocol has not been run on all of it. The file in the repository has
# the captions that the authors used for tuning (train and validation).


def _has_none(label: object, where: str) -> int:
    """Return 1 for a caption without hallucinations, 0 for another."""
    if not isinstance(label, bool):
        message = "contains_hallucination is neither true nor false"
        raise CaptionFileError(message, where=where, hint="download the file again")
    return int(not label)


HAT = Benchmark(
    "hat",
    (Protocol("hat", "trainval", "average-precision", "given", "captions", source="Petryk et al. 2024"),),
    (
        rated(
            "aloha/hat-trainval.json",
            "{number}|{image_path}",
            ("image_path", "caption", "references", "contains_hallucination"),
            rating_of=_has_none,
        ),
    ),
    "DavidMChan/aloha on GitHub, data",
)


# Nebula: crowdsourced ratings of machine and human captions with references. Matsuda et al. 2024 (DENEB).
#
# Only the test split is used; the others are for training. The images in the files are not read. Some ratings were
# corrected later in the files of Spica, by image and caption; protocols whose names begin with "corrected-" use those.
#
# The formats are taken from the description of the owners' files and from a program that reads both; the protocols have
# not been run on the files.

_FIELDS_NEBULA = ("file_name", "mt", "refs", "human_score")
_CORRECTIONS = tuple(f"nebula/spica_{split}.csv" for split in ("train", "val", "test"))


def _corrected(protocol: Protocol, items: Sequence[RatedCaption], folder: DataFolder) -> Sequence[RatedCaption]:
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


NEBULA = Benchmark(
    "nebula",
    tuple(
        Protocol("nebula", name, f"kendall-{name[-5:]}", "given", "captions", source=source)
        for name, source in (
            ("tau-c", "Matsuda et al. 2024"),
            ("tau-b", ""),
            ("corrected-tau-c", "arXiv:2512.21582"),
            ("corrected-tau-b", ""),
        )
    ),
    (rated("nebula/test-*.parquet", "row {number}", _FIELDS_NEBULA, rating_of=at_least_0),),
    "Ka2ukiMatsuda/Nebula on the Hugging Face hub, data/test-*.parquet; corrections: hiranohachiman/Spica, spica_*.csv",
    items=_corrected,
)


# Polaris: ratings from 0 to 1 of captions by ten systems and by people. Wada et al. 2024 (Polos).
#
# Only the test split is used; the others are for training. References are written as a Python list in one cell.
#
# The format is taken from the owners' program; the protocols have not been run on their files.


_FIELDS_POLARIS = ("imgid", "mt", "refs", "score")


def _texts(cell: str, where: str) -> list[str]:
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


POLARIS = Benchmark(
    "polaris",
    tuple(
        Protocol("polaris", name, f"kendall-{name}", "given", "captions", source=source)
        for name, source in (("tau-c", "Wada et al. 2024"), ("tau-b", ""))
    ),
    (rated("polaris/polaris_test.csv", "line {number}", _FIELDS_POLARIS, rating_of=at_least_0, texts_of=_texts),),
    "polaris.zip, which keio-smilab24/Polos on GitHub links to",
)


# THumB 1.0: expert ratings of precision and recall of COCO captions. Kasai et al. 2022.
#
# Four systems and people, 500 captions each. Precision and recall are rated from 1 to 5; the total is their mean, minus
# penalties for fluency, conciseness and non-inclusive language. There are four references: COCO's without the one that
# is judged as the fifth system.
#
# The format is taken from the owners' files; the protocols have not been run on them.

_RATINGS = "thumb/mscoco_THumB-1.0.jsonl"
_REFERENCES = "thumb/mscoco_references.json"  # lines of json, in spite of its name
_MEASURES = {"total": "total", "precision": "precision, 1 to 5", "recall": "recall, 1 to 5"}
_FIELDS = {"total": "human_score", "precision": "P", "recall": "R"}


def _read_thumb(folder: DataFolder) -> list[RatedCaption]:
    """Read ``{"SYS", "seg_id", "hyp", "image", "P", "R", "human_score"}``, and ``{"seg_id", "refs"}``."""
    references = {str(r["seg_id"]): r["refs"] for r in folder.records(_REFERENCES)}
    items = []
    for line, r in folder.numbered_records(_RATINGS):
        where = folder.place(_RATINGS, line)
        facts = {name: number_within(r[field], -10, 5, where) for name, field in _FIELDS.items()}
        name, texts = f"{r['seg_id']}|{r['SYS']}", entry_of(references, str(r["seg_id"]), where)
        items.append(RatedCaption(name, r["image"], r["hyp"], texts, (), facts={"system": r["SYS"], **facts}))
    return items


def _protocol_thumb(measure: str, with_people: bool) -> Protocol:
    return Protocol(
        "thumb",
        f"{measure}-with-human" if with_people else measure,
        "pearson",
        "given",
        "captions",
        references=Rule("four of the image, without the human caption that is judged", lambda item: item.references),
        excluded=NOTHING if with_people else Rule("human captions", lambda item: item.facts["system"] == "Human"),
        measure=Rule(_MEASURES[measure], lambda item: item.facts[measure]),
        source="Kasai et al. 2022",
    )


THUMB = Benchmark(
    "thumb",
    (
        *(_protocol_thumb(measure, with_people) for with_people in (False, True) for measure in _MEASURES),
        *system_protocols(_protocol_thumb("total", False)),
    ),
    (Files((_RATINGS, _REFERENCES), _read_thumb),),
    "jungokasai/THumB on GitHub, mscoco",
)


# VATEX-EVAL: ratings of video captions from 1 to 5 by three annotators each. Shi et al. 2022 (EMScore).
#
# The statistic is computed for each annotator and averaged. The authors round scores to four decimals first, which
# causes a few more ties; that is not done here.
#
# The format is taken from the owners' program, which reads four pickles of numpy arrays; the protocols have not been
# run on their files. Pickles are read as data: no callable in them is called.

_NAMES = ("candidates_list", "gts_list", "human_scores", "video_ids")
_FILES = tuple(f"vatex_eval/{name}.pkl" for name in _NAMES)
_ANNOTATORS = 3


def _read_vatex_eval(folder: DataFolder) -> list[RatedCaption]:
    """Read candidates [n], references [n, 9], scores [3 n], annotator after annotator, and videos [n]."""
    candidates, references, scores, videos = (_listed(folder.pickle(name)) for name in _FILES)
    ratings = np.array(scores, dtype=np.float64).reshape(_ANNOTATORS, -1).T
    if not len(candidates) == len(references) == len(ratings) == len(videos):
        raise CaptionFileError(
            f"{counted(len(candidates), 'candidate')}, references of {len(references):,}, ratings of "
            f"{len(ratings):,} and {counted(len(videos), 'video')}",
            where=f"{folder.folder}: {', '.join(_FILES)}",
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


VATEX_EVAL = Benchmark(
    "vatex-eval",
    tuple(
        Protocol(
            "vatex-eval",
            f"{name}{tail}",
            statistic,
            "annotators",
            "captions",
            references=references,
            source="Shi et al. 2022",
        )
        for tail, references in (
            ("-nine-refs", Rule("the nine of the video", lambda item: [*item.references[:9]])),
            ("-one-ref", Rule("the first of the nine", lambda item: [*item.references[:1]])),
        )
        for name, statistic in (("kendall", "kendall-tau-b"), ("spearman", "spearman"))
    ),
    (Files(_FILES, _read_vatex_eval),),
    "ShiYaya/emscore on GitHub, which links to the files",
)
