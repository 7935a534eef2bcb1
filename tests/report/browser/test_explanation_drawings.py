"""Scripts that draw explanations, alone: what ``captious explain --format json`` writes is all that they need."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from captious import WordVectors
from captious.metrics.contract import catalogue
from captious.report.explanations import DRAWN, SCRIPTS, SCRIPTS_FOLDER, explanation_values
from captious.report.html import asset

CANDIDATE, REFERENCES = "a dog runs on grass", ["a brown dog is running", "<b>two</b> dogs run on the grass"]
EXPECTED = {
    "bleu": ["1-grams 4/5", "brevity penalty", "BLEU-4"],
    "rouge-l": ["2 words in common", "1 other reference", "score .4000"],
    "cider-d": ["adds up to", "In no reference: a dog runs"],
    "cider-r": ["adds up to"],
    "meteor": ["reference 1", "matches in", "fragmentation"],
    "spice": ["tuples match; the references have", "dog"],
    "coverage": ["a brown dog is running", "2.1", "precision"],
    "wmd": ["nearest: reference", "distance"],
}


@pytest.fixture
def drawings(browser: Any) -> Any:
    """A page with these scripts and nothing else."""
    page = browser.new_page(viewport={"width": 800, "height": 600})
    page.set_content("<!doctype html><main></main>")
    for name in SCRIPTS:
        page.add_script_tag(content=asset(f"{SCRIPTS_FOLDER}/{name}"))
    yield page
    page.close()


def _metric(name: str) -> Any:
    if name == "wmd":
        words = ["dog", "runs", "grass", "brown", "running", "run"]
        return catalogue.get(name)(vectors=WordVectors.of(words, np.eye(len(words), dtype=np.float32)))
    return catalogue.get(name)(**({"idf": "coco"} if name.startswith("cider") else {}))


@pytest.mark.parametrize("name", EXPECTED)
def test_drawings(drawings: Any, meteor_tables: object, name: str) -> None:
    metric = _metric(name)
    explained = metric.explain(CANDIDATE, REFERENCES)
    drawings.evaluate(
        """([kind, values]) => document.querySelector("main").replaceChildren(
            drawExplanation(kind, JSON.parse(values), { width: 600, full: 1 }))""",
        [metric.explanation, json.dumps(explanation_values(explained))],
    )
    said = drawings.locator(".why").text_content()
    for part in EXPECTED[name]:
        assert part in said
    assert drawings.locator("b").count() == 0


def test_every_kind_is_drawn(drawings: Any) -> None:
    assert set(drawings.evaluate("Object.keys(DRAWINGS)")) == DRAWN
    assert {catalogue.get(name).explanation for name in EXPECTED} == DRAWN
