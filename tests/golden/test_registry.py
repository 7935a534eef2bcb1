"""Nothing that captious computes is missing in the golden record: every output of every variant has recorded scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.golden.calls import command

#: A variant that needs data which no package has, the tagger and the WordNet of NLTK; and outputs that no encoder
#: changes, which have the signature of the variant light.
NOT_RECORDED = {
    *((f"chair-{output}", "lmms-eval") for output in ("s", "i", "recall")),
    *((f"concur-{output}", "full") for output in ("precision", "recall")),
}
VALUES = Path(__file__).parent / "values"


def signatures(document: Any) -> Iterator[str]:
    """Yield the signatures of caption scores in a document."""
    if isinstance(document, dict):
        if {"signature", "score", "per_caption"} <= document.keys():
            yield document["signature"]
        for value in document.values():
            yield from signatures(value)


def test_every_output_of_every_variant_is_recorded() -> None:
    recorded = {
        (parts[0], next(part.removeprefix("variant:") for part in parts if part.startswith("variant:")))
        for path in VALUES.rglob("*.json")
        for signature in signatures(json.loads(path.read_text("utf-8")))
        for parts in [signature.split("|")]
    }
    metrics = json.loads(command("metrics", "--format", "json"))["metrics"]
    listed = {(output, variant) for metric in metrics for output in metric["outputs"] for variant in metric["variants"]}
    assert len(listed) > 100
    assert listed - recorded == NOT_RECORDED
