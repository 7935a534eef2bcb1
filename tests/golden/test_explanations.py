"""The explanations of caption scores, as plain values, on captions of the examples."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.calls import explained
from tests.golden.captions import EXAMPLE_VECTORS, EXAMPLES, REFERENCES
from tests.golden.record import TOLERANCE, Record

pytestmark = [
    pytest.mark.filterwarnings("ignore::captious.CaptiousWarning"),
    pytest.mark.usefixtures("meteor_tables"),
]

#: Metrics and what they read: nothing but captions, parses, or word vectors.
PLAIN = (
    *("bleu", "bleu@paper", "bleu-2", "meteor", "meteor@paper", "rouge-l", "rouge-l@lin2004"),
    *("cider", "cider-d", "cider-d@paper", "cider-r", "cider-d:idf=coco", "concur", "coverage", "coverage-cider"),
)
PARSED = ("spice", "spice:split=sentences")
WITH_VECTORS = ("wmd", "wmd@lceval")
IMAGES = (1207, 1866)


def settings_of(metric: str) -> dict[str, Any]:
    if metric in PARSED:
        return {"parser": "bundled"}
    return {"vectors": EXAMPLE_VECTORS} if metric in WITH_VECTORS else {}


@pytest.mark.parametrize("metric", [*PLAIN, *PARSED, *WITH_VECTORS])
def test_explanations_of_examples(metric: str, record: Record) -> None:
    improved = str(EXAMPLES / "improved.json")
    found = {str(image): explained(metric, improved, REFERENCES, image, **settings_of(metric)) for image in IMAGES}
    # Similarities of concur are those of vectors of float32.
    record(f"explanations/{metric.replace(':', '-')}", found, tolerance=1e-6 if metric == "concur" else TOLERANCE)


@pytest.mark.parametrize("metric", ["coverage", "coverage-cider", "spice:split=sentences"])
def test_explanations_of_long_captions(metric: str, record: Record) -> None:
    candidates, references = str(EXAMPLES / "long" / "rambling.json"), str(EXAMPLES / "long" / "references.json")
    found = explained(metric, candidates, references, "harbor", **settings_of(metric))
    record(f"explanations/long/{metric.replace(':', '-')}", found)
