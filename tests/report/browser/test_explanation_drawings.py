"""Scripts that draw explanations, alone: what ``captious explain --format json`` writes, and a layout, is all that they
need. They show what terminals show.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from captious import WordVectors
from captious.drawing import SCRIPTS, SCRIPTS_FOLDER, as_text
from captious.explanation_text import explanation_text
from captious.layouts import LAYOUTS, drawn_values, layout_values
from captious.metrics.contract import registry
from captious.report.html import asset

CANDIDATE, REFERENCES = "a dog runs on grass", ["a brown dog is running", "<b>two</b> dogs run on the grass"]
METRICS = ["bleu", "concur", "chair", "cider-d", "cider-r", "coverage", "meteor", "rouge-l", "spice", "wmd"]
#: What only terminals have: marks of words and of the best reference, and bars.
SIGNS_OF_TERMINALS = re.compile("[][◀█▏▎▍▌▋▊▉]| best$", re.MULTILINE)


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
        return registry.get(name)(vectors=WordVectors.of(words, np.eye(len(words), dtype=np.float32)))
    if name == "chair":
        return registry.get(name)(objects={1: ["dog"]})
    return registry.get(name)(**({"idf": "coco"} if name.startswith("cider") else {}))


@pytest.mark.parametrize("name", METRICS)
def test_drawn_explanation_contains_all_text_and_no_markup(drawings: Any, meteor_tables: object, name: str) -> None:
    metric = _metric(name)
    references = ["dog", "person"] if name == "chair" else REFERENCES
    explained = metric.explain(CANDIDATE, references)
    drawings.evaluate(
        """([layout, values]) => document.querySelector("main").replaceChildren(
            drawExplanation(layout, JSON.parse(values), { width: 600, full: 1 }))""",
        [layout_values(metric.explanation), json.dumps(drawn_values(explained))],
    )
    message = _letters(drawings.locator(".why").text_content())
    for part in SIGNS_OF_TERMINALS.sub(" ", as_text(explanation_text(explained))).split():
        if part not in ("·", ":"):
            assert _letters(part) in message, part
    assert drawings.locator("b").count() == 0
    assert "NaN" not in drawings.locator(".why").inner_html()


def test_every_kind_is_drawn(drawings: Any) -> None:
    assert {registry.get(name).explanation for name in METRICS} == {*LAYOUTS}


def _letters(text: str) -> str:
    """Return text without separators, with one kind of minus sign."""
    return re.sub(r"[\s·]", "", text).replace("−", "-")
