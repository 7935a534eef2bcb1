"""Ranks without tests, ties that are broken by other outputs, and a formula over metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious_server.boards.ranking import strict_ranks
from captious_server.challenges.definition import definition_from
from captious_server.challenges.problems import ChallengeError
from server.tests.boards.archives import archive
from server.tests.support.site import EXAMPLES, Site, example, parsed
from server.tests.support.small_challenge import as_toml


def write(folder: Path, head: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "references.json").write_bytes((EXAMPLES / "references.json").read_bytes())
    rows: dict[str, Any] = {
        "title": "Ranked",
        "slug": "ranked",
        "metrics": ["bleu", "rouge-l"],
        "references": [{"name": "c5", "file": "references.json"}],
        "phases": [{"name": "main", "digits": 2}],
    }
    (folder / "challenge.toml").write_text(f"{head}\n{as_toml(rows)}")
    return folder


def problems(**values: Any) -> list[str]:
    base = {"title": "x", "metrics": ["bleu"], "references": [{"name": "c5", "file": "x"}], "phases": [{"name": "m"}]}
    with pytest.raises(ChallengeError) as caught:
        definition_from({**base, **values})
    return caught.value.problems


def test_strict_ranks_share_places_of_equal_keys() -> None:
    keys = [np.array([0.2, 0.1, 0.2, 0.2, np.inf]), np.array([3.0, 9.0, 1.0, 3.0, 0.0])]
    assert strict_ranks(keys).tolist() == [3, 1, 2, 3, 5]
    assert strict_ranks(keys[:1]).tolist() == [2, 1, 2, 2, 5]


def test_strict_ranks_share_places_of_missing_tie_breaks() -> None:
    keys = [np.array([0.2, 0.1, 0.2, 0.2]), np.array([np.inf, np.inf, np.inf, 1.0])]
    assert strict_ranks(keys).tolist() == [3, 1, 3, 2]


def test_ties_are_broken_by_other_outputs(site: Site, tmp_path: Path) -> None:
    """Captions with their words in another order have the same BLEU-1, and share a rank until BLEU-4 breaks the tie."""
    mixed = [{**row, "caption": " ".join(row["caption"].split()[::-1])} for row in example("improved")]
    systems = {"mixed": mixed, "plain": example("improved"), "base": example("baseline")}
    for name, rows in systems.items():
        if name == "mixed":
            site.load(write(tmp_path / "ranked", 'rank_by = "bleu-1"'))
        assert site.submit(site.user(name), rows, challenge="ranked", method=name).status_code == 302

    def ranks(head: str) -> dict[str, int]:
        site.load(write(tmp_path / "ranked", f'rank_by = "bleu-1"\n{head}'))
        site.work()
        rows = parsed(site.client().get("/challenges/ranked/leaderboard.json"))
        return {row["method"]: row["rank"] for row in rows}

    assert ranks("") == {"mixed": 1, "plain": 1, "base": 3}  # which is significantly worse
    assert ranks('ranks = "scores"') == {"mixed": 1, "plain": 1, "base": 3}
    broken = ranks('ranks = "scores"\ntie_breaks = ["bleu-4"]')
    assert [*broken.items()] == [("plain", 1), ("mixed", 2), ("base", 3)]
    page = site.client().get("/challenges/ranked/leaderboard").content.decode()
    assert "Ranked by bleu-1, without tests; ties are broken by bleu-4." in page


def test_formula_is_an_output_with_an_interval_that_ranks(site: Site, tmp_path: Path) -> None:
    formula = 'rank_by = "overall"\n[formula]\nname = "overall"\nweights = { "rouge-l" = 0.5, "bleu-4" = 2 }\n'
    folder = write(tmp_path / "ranked")
    text = (folder / "challenge.toml").read_text().replace("[[references]]", f"{formula}\n[[references]]", 1)
    (folder / "challenge.toml").write_text(text.replace("digits = 2", "digits = 4"))
    site.load(folder)
    for name in ("improved", "baseline"):
        assert site.submit(site.user(name), example(name), challenge="ranked", method=name).status_code == 302
    site.work()
    rows = parsed(site.client().get("/challenges/ranked/leaderboard.json"))
    assert [row["method"] for row in rows] == ["improved", "baseline"]
    for row in rows:
        scores = row["scores"]
        assert scores["overall"] == pytest.approx(0.5 * scores["rouge-l"] + 2 * scores["bleu-4"], abs=2e-4)
        low, high = row["intervals"]["overall"]
        assert low < scores["overall"] < high
        of = row["signatures"]
        assert of["overall"] == f"overall = 2 × {of['bleu-4']} + 0.5 × {of['rouge-l']}"
        assert "bleu-4|" in of["overall"]
    a, b = (row["id"] for row in rows)
    answer = site.client().get(f"/api/v1/challenges/ranked/compare?a={b}&b={a}").json()
    assert answer[0]["output"] == "overall"
    assert answer[0]["p"] < 0.05
    readme = archive(site, "ranked")["README.md"].decode()
    assert "No command computes `overall`: it is the sum of other scores of the same submission" in readme


def test_problems_of_ranks_and_formulas() -> None:
    assert problems(tie_breaks=["bleu-1"]) == ['tie_breaks: need ranks = "scores"']
    known = "these are bleu-1, bleu-2, bleu-3, bleu-4"
    assert problems(ranks="scores", tie_breaks=["nope"]) == [
        f"tie_breaks: 'nope' is not an output of the metrics; {known}"
    ]
    formula = {"name": "all", "weights": {"nope": 1.0}}
    assert problems(formula=formula, rank_by="all") == [
        f"formula.weights: 'nope' is not an output of the metrics; {known}, all"
    ]
    assert problems(formula={"name": "bleu-1", "weights": {"bleu-2": 1.0}})[0] == "metrics: bleu-1 is requested twice"
    assert problems(formula={"name": "all", "weights": {"all": 1.0}}) == [
        "formula.weights: the formula is not part of itself"
    ]
    assert problems(formula={"name": "all", "weights": {}, "by": 1}) != []
