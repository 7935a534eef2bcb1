"""People as a row: how well those who rated the same captions agree with each other."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from captious.judgment import judge, load_judgments
from captious.report.formats import latex, markdown, notebook_html
from tests.support.judgments import write_jsonl

RATINGS = [[1, 2, 1], [3, 3, 4], [2, 1, 1], [4, 4, 3], [2, 3, 2], [1, 1, 2], [4, 3, 4], [3, 4, 4]]


def expert(folder: Path, ratings: list[list[int]]) -> str:
    records = [
        {
            "image": str(n),
            "caption_id": str(n),
            "candidate": f"a dog {'runs ' * n}",
            "scores": scores,
            "refs": ["a dog"],
        }
        for n, scores in enumerate(ratings)
    ]
    write_jsonl(folder, "flickr8k/expert.jsonl", records)
    return str(folder)


@pytest.mark.parametrize(("protocol", "variant"), [("spice2016", "c"), ("tau-b", "b"), ("yi2020", "b")])
def test_human_agreement_is_averaged_over_pairs_of_raters(tmp_path: Path, protocol: str, variant: str) -> None:
    data = expert(tmp_path, RATINGS)
    judgment = judge(f"flickr8k-expert@{protocol}", "bleu-1", data=data, resamples=50)
    people = judgment["flickr8k-expert"].people
    pairs = combinations(np.array(RATINGS).T, 2)
    assert people.value == pytest.approx(np.mean([stats.kendalltau(a, b, variant=variant).statistic for a, b in pairs]))
    assert people.interval[0] < people.value < people.interval[1]
    assert [row["metric"] for row in judgment.records] == ["bleu-1", "people"]
    assert "\n  people " in repr(judgment)
    assert judgment.to_dict()["benchmarks"][0]["people"]["value"] == people.value
    shown = f"{100 * people.value:.1f}"
    table = judgment.to_table()
    assert f"\n\\midrule\npeople & {shown}" in latex(table)
    assert f"\n| people | {shown} |" in markdown(table)
    assert f'people</th><td><span class="value">{shown}</span>' in notebook_html(table)


def test_single_ratings_have_no_human_agreement(tmp_path: Path) -> None:
    data = expert(tmp_path, [[rating] for rating, *_ in RATINGS])
    judgment = judge("flickr8k-expert", "bleu-1", data=data, resamples=50)
    assert judgment["flickr8k-expert"].people is None
    assert "people" not in repr(judgment)


def test_published_human_agreement_on_flickr8k_is_reproduced(shared_data: Path) -> None:
    """The figure that Cui et al. 2018 and Yi et al. 2020 print."""
    from captious.statistics import Sampling

    agreement = load_judgments("flickr8k-expert@tau-b", shared_data).people(Sampling(50, 0))
    assert agreement[0] == pytest.approx(0.736, abs=0.0005)
