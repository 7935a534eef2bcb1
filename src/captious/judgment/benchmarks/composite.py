"""Composite: captions of people and machines for images of Flickr8k, Flickr30k and COCO, rated 1 to 5.

Aditya et al. 2015. One caption of each image is a human reference (slot 1), which is not passed to metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.judgment.benchmark_items import letters
from captious.judgment.benchmarks.benchmark import TOOLKIT, figures

_NORMALIZED = "composite/composite.jsonl"


def _other_references(item: RatedCaption) -> Sequence[str]:
    """Return the references that differ from the rated one in letters or digits; all of them if none does."""
    return [text for text in item.references if letters(text) != item.facts["rated"]] or item.references


def _read(folder: DataFolder) -> list[RatedCaption]:
    records = folder.records(_NORMALIZED)
    rated = {r["image"]: letters(r["candidate"]) for r in records if r["slot"] == 1}
    return [
        RatedCaption(
            f"{r['source']}|{r['image']}|{r['slot']}",
            r["image"],
            r["candidate"],
            r["refs"],
            [r["human"]],
            facts={"rated": rated.get(r["image"]), "slot": r["slot"]},
        )
        for r in records
    ]


_protocol = partial(
    Protocol,
    "composite",
    ratings="given",
    of="captions",
    references=Rule("the image's references, without the one that is itself rated", _other_references),
)

COMPOSITE = Benchmark(
    "composite",
    (
        _protocol("hessel2021", statistic="kendall-tau-c", source="Hessel et al. 2021"),
        *(
            _protocol(
                f"sharif2019-{name}",
                statistic=statistic,
                excluded=Rule("the third caption of each image (slot 3)", lambda item: item.facts["slot"] == 3),
                source="Sharif et al. 2019",
            )
            for name, statistic in (("pearson", "pearson"), ("spearman", "spearman"), ("tau-b", "kendall-tau-b"))
        ),
    ),
    (Files((_NORMALIZED,), _read),),
    "Aditya et al. 2015",
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
