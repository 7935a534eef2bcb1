"""Agreement by number of references: the input of metrics is compared with the files, the rest with scipy."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from captious.errors import ParameterError
from captious.judgment import judge
from captious.judgment.studies import reference_counts


class Witness:
    """A metric that records its input: words that a candidate shares with its references."""

    __name__ = "witness"

    def __init__(self) -> None:
        self.seen: list[list[list[str]]] = []

    def __call__(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
        self.seen.append([list(some) for some in references])
        return np.array([overlap(c, some) for c, some in zip(candidates, references, strict=True)])


def overlap(candidate: str, references: Sequence[str]) -> float:
    """Also tells references of different order apart."""
    words = set(candidate.lower().split())
    shared = [len(words & set(text.lower().split())) / len(words) for text in references]
    return max(shared) + 1e-6 * sum((i + 1) * value for i, value in enumerate(shared))


def lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def rated(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 240 judgments of Flickr8k by experts, as a file of the user's; two have but three references."""
    records = lines(shared_data / "flickr8k" / "expert.jsonl.gz")[:240]
    path = tmp_path_factory.mktemp("own") / "rated.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, r in enumerate(records):
            references = r["refs"][:3] if number in (0, 1) else r["refs"]
            own = {"candidate": r["candidate"], "references": references, "ratings": r["scores"], "image": r["image"]}
            file.write(json.dumps(own) + "\n")
    return path


def test_all_references_give_the_result_of_judge(rated: Path) -> None:
    study = reference_counts(rated, ["cider-d", "bleu-4"], [2, 5], draws=3, resamples=50, seed=4)
    verdict = judge(rated, ["cider-d", "bleu-4"], resamples=50, seed=4)["rated"]
    of_all = {record["metric"]: record for record in study.records if record["references"] == 5}
    for metric, agreement in verdict.agreements.items():
        assert of_all[metric]["value"] == agreement.value
        assert (of_all[metric]["ci95_low"], of_all[metric]["ci95_high"]) == agreement.interval
    assert study.signatures["cider-d"] == verdict["cider-d"].signature
    assert study.data == verdict.data
    assert study.notes == ["2 of 240 captions have fewer than 5 references, all of which are kept."]


def test_the_statistic_is_the_mean_over_draws(rated: Path) -> None:
    witness = Witness()
    study = reference_counts(rated, witness, [1, 3], draws=4, resamples=20)
    records = [json.loads(line) for line in rated.read_text().splitlines()]
    ratings = np.concatenate([r["ratings"] for r in records])
    for number, record in enumerate(study.records):
        taus = []
        for references in witness.seen[4 * number : 4 * number + 4]:
            scores = [overlap(r["candidate"], some) for r, some in zip(records, references, strict=True)]
            taus.append(stats.kendalltau(np.repeat(scores, 3), ratings, variant="c").statistic)
        assert len(set(taus)) > 1
        assert record["value"] == pytest.approx(np.mean(taus), abs=1e-12)
        assert record["ci95_low"] < record["value"] < record["ci95_high"]
    curve = study.pictures["references"].lines["witness"]
    assert curve.x.tolist() == [1, 3]
    assert curve.y.tolist() == [record["value"] for record in study.records]


def test_references_are_drawn_from_the_captions_own(rated: Path) -> None:
    witness = Witness()
    reference_counts(rated, witness, [1, 2, 4], draws=3, resamples=1)
    records = [json.loads(line) for line in rated.read_text().splitlines()]
    of_count = {count: witness.seen[3 * i : 3 * i + 3] for i, count in enumerate((1, 2, 4))}
    for count, draws in of_count.items():
        for draw in draws:
            shared: dict[tuple[str, ...], list[str]] = {}
            for record, drawn in zip(records, draw, strict=True):
                own = record["references"]
                assert len(drawn) == min(count, len(own))
                places = [own.index(text) for text in drawn]
                assert places == sorted(places)
                # Captions of one image are compared by the same references.
                assert shared.setdefault(tuple(own), drawn) == drawn
    for fewer, more in pairwise(of_count.values()):
        for a, b in zip(fewer, more, strict=True):
            assert all(set(x) <= set(y) for x, y in zip(a, b, strict=True))
    single = [[some[0] for some in draw] for draw in of_count[1]]
    assert single[0] != single[1] != single[2]
    images = len({r["image"] for r in records})
    assert len(set(np.concatenate(single))) > 1.8 * images  # not the same of the five every time


def test_seed_determines_drawn_references(rated: Path) -> None:
    def values(seed: int) -> list[float]:
        study = reference_counts(rated, "rouge-l", [1, 2], draws=2, resamples=20, seed=seed)
        return [record[key] for record in study.records for key in ("value", "ci95_low", "ci95_high")]

    assert values(7) == values(7)
    assert values(7) != values(8)


def test_pascal_has_fifty_references_without_the_judged_captions(shared_data: Path) -> None:
    witness = Witness()
    study = reference_counts("pascal-50s", witness, [1, 50], draws=1, data=shared_data, resamples=5)
    pool = json.loads(gzip.decompress((shared_data / "pascal50s" / "refs.json.gz").read_bytes()))
    pairs = lines(shared_data / "pascal50s" / "pairs.jsonl.gz")
    one, all_of_them = witness.seen
    lacking = 0
    for number, pair in enumerate(pairs):
        for row in (2 * number, 2 * number + 1):
            assert set(all_of_them[row]) <= set(pool[pair["image"]])
            assert not {letters(text) for text in all_of_them[row]} & {letters(text) for text in pair["sent"]}
            assert 40 <= len(all_of_them[row]) <= 50
            assert len(one[row]) == 1
            lacking += len(all_of_them[row]) < 50
        assert one[2 * number] == one[2 * number + 1]
    assert lacking > 0
    assert any(f"{lacking:,} of 8,000" in note for note in study.notes)
    assert set(study.data) == {"pairs.jsonl.gz", "refs.json.gz"}


def letters(text: str) -> str:
    return re.sub("[^a-z0-9]", "", text.lower())


def test_more_references_help_on_pascal(shared_data: Path) -> None:
    study = reference_counts("pascal-50s", "cider-d", [1, 5, 20], draws=1, data=shared_data, resamples=5)
    few, some, many = (record["value"] for record in study.records)
    assert few + 0.03 < some < many
    for record in study.records:
        assert record["value"] == pytest.approx(np.mean([record[kind] for kind in ("HC", "HI", "HM", "MM")]))
    assert study.columns[-4:] == ("HC", "HI", "HM", "MM")


def test_usual_counts_go_up_to_what_there_is(rated: Path) -> None:
    assert reference_counts(rated, "rouge-l", draws=1, resamples=1).settings["counts"] == [1, 2, 3, 4, 5]


def test_benchmarks_of_systems_have_no_references(shared_data: Path) -> None:
    with pytest.raises(ParameterError, match="judges systems"):
        reference_counts("coco-2015", "bleu-4", data=shared_data)
