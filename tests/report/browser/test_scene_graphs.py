"""Scene graphs in a browser: within the page, without overlapping boxes, matches side by side."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect

_BOXES = """graph => [...graph.querySelectorAll(".node")].map((node) => {
  const { left, top, right, bottom } = node.querySelector("rect").getBoundingClientRect();
  return { left, top, right, bottom, text: node.querySelector("text").textContent, matched: node.matches(".matched") };
})"""


def check_boxes(graph: Any) -> list[dict[str, Any]]:
    """Return the boxes of a graph, after checking that they are inside of it and do not overlap."""
    boxes: list[dict[str, Any]] = graph.evaluate(_BOXES)
    around = graph.bounding_box()
    for box in boxes:
        assert around["x"] - 1 <= box["left"] < box["right"] <= around["x"] + around["width"] + 1, box
        assert around["y"] - 1 <= box["top"] < box["bottom"] <= around["y"] + around["height"] + 1, box
    for a, b in combinations(boxes, 2):
        apart = a["right"] < b["left"] or b["right"] < a["left"] or a["bottom"] < b["top"] or b["bottom"] < a["top"]
        assert apart, (a, b)
    return boxes


def test_graphs_are_within_the_page(open_page: Callable[..., Any], examples: Path) -> None:
    page = open_page(examples)
    page.get_by_label("Explain").select_option("spice")
    pairs = 0
    for _ in range(8):
        expect(page.locator(".graph svg")).to_have_count(2)
        for graph in page.locator(".graph svg").all():
            boxes = check_boxes(graph)
            heights = {(box["text"], box["top"]) for box in boxes if box["matched"]}
            for line in graph.locator("line.pair").all():
                pairs += 1
                assert line.get_attribute("y1") == line.get_attribute("y2")
            assert len(heights) < sum(box["matched"] for box in boxes) or not heights  # same names at one height
        page.get_by_role("button", name="Next image").click()
    assert pairs > 8


def test_references_are_below_the_candidate_on_a_phone(open_page: Callable[..., Any], examples: Path) -> None:
    page = open_page(examples)
    page.get_by_label("Explain").select_option("spice")
    expect(page.locator("line.pair")).not_to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("line.pair")).to_have_count(0)
    for graph in page.locator(".graph svg").all():
        check_boxes(graph)
        candidate, references = graph.locator("text.side").all()[:2]
        assert candidate.bounding_box()["y"] < references.bounding_box()["y"]
