"""The scores and signatures of all metrics that need captions alone, in all variants and with all parameters.

Each is recorded on two systems of the examples and on 200 images of COCO, caption by caption.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import captious
from tests.golden.calls import scored, scores
from tests.golden.captions import EXAMPLE_VECTORS, EXAMPLES, REFERENCES, VECTORS, coco
from tests.golden.record import TOLERANCE, Record

pytestmark = [
    pytest.mark.filterwarnings("ignore::captious.CaptiousWarning"),
    pytest.mark.usefixtures("meteor_tables"),
]

SPICE = [
    *("spice", "spice-p", "spice-r", "spice-object", "spice-attribute", "spice-relation", "spice-cardinality"),
    *("spice-color", "spice-size"),
]
#: Metrics of one caption per image -> requests, by the file that holds them.
METRICS: dict[str, list[Any]] = {
    "bleu": ["bleu@official", "bleu@paper"],
    "meteor": [
        *(
            "meteor@official",
            "meteor@paper",
            "meteor:alpha=0.5",
            "meteor:beta=1",
            "meteor:gamma=0.3",
            "meteor:delta=0.5",
        ),
        captious.Meteor(modules={"exact": 1, "stem": 0.5}),
    ],
    "rouge": ["rouge-l@official", "rouge-l@lin2004", "rouge-l:beta=2", "rouge-n", "rouge-s", "rouge-s:gap=1"],
    "cider": ["cider@official", "cider@paper", "cider:idf=coco"],
    "cider-d": [
        *("cider-d@official", "cider-d@paper", "cider-d:idf=coco", "cider-d:sigma=3"),
        *("cider-r", "cider-r:idf=coco"),
    ],
    "spice": [*SPICE, "spice:split=sentences", "spider", "spider:idf=coco", "spider@lceval"],
    "hwcm": ["hwcm@official", "hwcm@paper", "hwcm:combine=mean"],
    "words": [
        *("ngram-precision@official", "ngram-precision@paper", "ngram-precision:combine=mean"),
        *("unigram-recall", "unigram-recall:combine=mean", "gleu", "sparcs", "yi2020-unigram"),
    ],
    "length": ["length@official", "length@mean"],
    "chrf": ["chrf@official", "chrf@epsilon", "chrf:word_order=2", "chrf:beta=3", "chrf:lowercase=true"],
    "vectors": [
        *("wmd@mtanti", "wmd@lceval", "mowe@official", "mowe:combine=mean", "wembsim", "wembsim:combine=max"),
    ],
    "concur": [
        *("concur", "concur-precision", "concur-recall", "concur:language=de"),
        *("concur@strict", "concur-precision@strict", "concur-recall@strict"),
        *("coverage", "coverage-p", "coverage-r"),
    ],
    "coverage-cider": ["coverage-cider", "coverage-cider-p", "coverage-cider-r", "coverage-cider:idf=coco"],
    "networks": ["nneval@trained", "lceval@trained", "lceval@official-8010"],
}
#: Metrics of several captions per image.
OF_SETS = {
    "div": ["div@official", "div@paper", "distinct"],
    "mbleu": ["mbleu@official", "mbleu@mean"],
    "self-cider": ["self-cider@official", "self-cider@cider-d", "lsa"],
    "allspice": [f"all{output}" for output in SPICE],
    "of-captions": ["bleu", "rouge-l", "cider-d", "meteor", "spice"],
}
#: The settings that these metrics have; a setting that no metric has is an error.
PARSED = ("spice", "hwcm", "networks", "allspice", "of-captions")
WITH_VECTORS = ("vectors", "networks")


def settings_of(name: str, vectors: str = EXAMPLE_VECTORS) -> dict[str, Any]:
    parsed: dict[str, Any] = {"parser": "bundled"} if name in PARSED else {}
    return parsed | ({"vectors": vectors} if name in WITH_VECTORS else {})


@pytest.mark.parametrize("name", METRICS)
def test_examples(name: str, record: Record) -> None:
    systems = {}
    for system in ("baseline", "improved"):
        candidates = str(EXAMPLES / f"{system}.json")
        systems[system] = scores(scored(candidates, REFERENCES, METRICS[name], **settings_of(name)))
    record(f"scores/examples/{name}", systems)


@pytest.mark.parametrize("name", METRICS)
def test_long_examples(name: str, record: Record) -> None:
    references = str(EXAMPLES / "long" / "references.json")
    systems = {}
    for system in ("concise", "detailed", "rambling"):
        candidates = str(EXAMPLES / "long" / f"{system}.json")
        systems[system] = scores(scored(candidates, references, METRICS[name], **settings_of(name)))
    record(f"scores/long/{name}", systems)


@pytest.mark.parametrize("name", METRICS)
def test_coco(name: str, record: Record, shared_data: Path) -> None:
    report = scored(coco().systems["system-0"], coco().references, METRICS[name], **settings_of(name, VECTORS))
    assert [*report.ids] == [*coco().references]
    record(f"scores/coco/{name}", scores(report))


@pytest.mark.parametrize("name", METRICS)
def test_references_as_one_text(name: str, record: Record) -> None:
    """The scores of all metrics against the references of an image in one text, as --references-as cat gives them."""
    report = scored(
        str(EXAMPLES / "improved.json"),
        REFERENCES,
        [request for request in METRICS[name] if "=" not in str(request)],
        **settings_of(name),
        references_as="cat",
    )
    record(f"scores/cat/{name}", scores(report))


@pytest.mark.parametrize("name", OF_SETS)
def test_several_captions_of_examples(name: str, record: Record) -> None:
    systems = {}
    for system in ("samples", "beams"):
        candidates = str(EXAMPLES / f"{system}.json")
        report = scored(candidates, REFERENCES, OF_SETS[name], several=True, **settings_of(name))
        systems[system] = scores(report) | {"description": report.description.to_dict()}
    record(f"scores/sets/examples/{name}", systems)


@pytest.mark.parametrize("name", OF_SETS)
def test_several_captions_of_coco(name: str, record: Record, shared_data: Path) -> None:
    report = scored(coco().samples, coco().references, OF_SETS[name], several=True, **settings_of(name))
    assert [*report.ids] == [*coco().references]
    # Its eigenvalues have the rounding errors of the processor's matrix products, and their roots larger ones.
    tolerance = 1e-8 if name == "self-cider" else TOLERANCE
    record(
        f"scores/sets/coco/{name}", scores(report) | {"description": report.description.to_dict()}, tolerance=tolerance
    )
