"""captious study systems"""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.study.conftest import METRICS


def test_systems_study_shows_scores_and_correlations(third: Path, run: Run) -> None:
    human = third.with_name("human.json")
    human.write_text(json.dumps({"m1": {"baseline": 0.3, "improved": 0.8, "moved": 0.1}}))
    files = ("baseline.json", "improved.json", third, "references.json")
    outcome = run("study", "systems", *files, *METRICS, "--human", human, "--format", "json")
    assert outcome.code == 0, outcome
    scores = {r["of"]: r["cider-d"] for r in outcome.json["records"] if r["what"] == "score"}
    assert scores["improved"] > scores["baseline"] > scores["moved"]
    (with_people,) = (r for r in outcome.json["records"] if (r["what"], r["of"]) == ("over systems", "m1"))
    assert with_people["cider-d"] > 0.9
    assert {"human.json", "baseline.json", "references.json"} <= set(outcome.json["data"])
