"""Results in a real kernel of Jupyter."""

from __future__ import annotations

from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

START = """
import captious
A, B, R = (f"examples/{name}.json" for name in ("baseline", "improved", "references"))
compared = captious.compare({"baseline": A, "improved": B}, R, ["rouge-l", "cider-d"], resamples=99)
"""
RESULTS = {
    "report": "captious.score(A, R, ['rouge-l', 'cider-d'])",
    "reports": "captious.score_systems({'one': A, 'two': B, 'tëst': B}, R, ['rouge-l', 'cider-d'])",
    "comparison": "compared",
    "pairs": "captious.compare({'one': A, 'two': B, 'again': B}, R, ['rouge-l'], resamples=99)",
    "groups": "captious.by_group(compared.a, {i: str(i % 2) for i in compared.a.ids})",
    "group differences": "captious.by_group(compared, {i: str(i % 2) for i in compared.a.ids})",
    "explanation": "compared.a.explain('cider-d', compared.a.worst('cider-d')[0])",
    "judgment": "captious.judge(own, ['rouge-l'])",
}
OWN = """
import json, pathlib, tempfile
own = str(pathlib.Path(tempfile.mkdtemp()) / "own.jsonl")
rows = [
    {"candidate": text, "references": ["a dog runs fast"], "rating": rating}
    for rating, text in enumerate(["a bus", "a dog", "a dog runs"])
]
pathlib.Path(own).write_text("\\n".join(map(json.dumps, rows)))
"""


def outputs_of(*sources: str) -> list[list[dict[str, Any]]]:
    """Return the outputs of each cell of a notebook."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.filterwarnings("ignore")
def test_every_result_shows_itself_once() -> None:
    cells = [START, OWN]
    for code in RESULTS.values():
        cells += [f"result = {code}", "result", "print(repr(result)); print(result, end='')"]
    first, _, *rest = outputs_of(*cells)
    warned = [output["text"] for output in first if output["output_type"] == "stream"]
    assert sum("only 24" in text for text in warned) == 1
    for name, (made, shown, printed) in zip(RESULTS, zip(*[iter(rest)] * 3, strict=True), strict=True):
        assert not any("only 24" in output.get("text", "") for output in made), f"{name} warned again"
        (only,) = shown
        assert ("<pre" if name == "explanation" else "<table") in only["data"]["text/html"], name
        text = "".join(output["text"] for output in printed)
        half = only["data"]["text/plain"]
        assert half, name
        assert text == f"{half}\n{half}", name


def test_plots_are_pictures() -> None:
    """Also where nothing has set up matplotlib for notebooks."""
    (_, (shown,)) = outputs_of(START, "compared.plot()")
    assert "image/png" in shown["data"]
