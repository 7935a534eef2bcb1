"""Systems: scores are those of captious.score, correlations those of numpy and scipy."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from scipy import stats

import captious
from captious.errors import ParameterError
from captious.judgment import Study
from captious.judgment.studies import system_correlations
from tests.support.judgments import write, write_jsonl

METRICS = ["bleu-4", "rouge-l", "cider-d"]
#: Captions of systems, and references.
Captioners: TypeAlias = tuple[dict[str, dict[str, str]], dict[str, list[str]]]
HUMAN = {"human": 0.9, "one": 0.3, "two": 0.35, "three": 0.1}


@pytest.fixture(scope="module")
def captioners(shared_data: Path) -> Captioners:
    """400 images of the Karpathy test split: a human's captions and those of three captioners, and references."""
    with gzip.open(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for _, line in zip(range(400), file, strict=False)]
    results = {name: {str(r["image"]): r["captions"][i] for r in records} for i, name in enumerate(HUMAN)}
    return results, {str(r["image"]): r["refs"] for r in records}


def kinds(study: Study) -> dict[tuple[str, str], dict[str, Any]]:
    return {(record["what"], record["of"]): dict(record) for record in study.records}


@pytest.mark.filterwarnings("ignore:.* end within a sentence")
def test_system_scores_and_correlations_are_computed(captioners: Captioners) -> None:
    results, references = captioners
    study = system_correlations(results, references, METRICS, human={"m1": HUMAN}, resamples=200)
    reports = {name: captious.score(captions, references, METRICS) for name, captions in results.items()}
    found = kinds(study)
    for name, report in reports.items():
        assert found["score", name] == {
            "what": "score",
            "of": name,
            **{metric: report[metric].score for metric in METRICS},
            "m1": HUMAN[name],
        }
    over_systems = np.corrcoef(
        [*([report[metric].score for report in reports.values()] for metric in METRICS), list(HUMAN.values())]
    )
    over_captions = np.corrcoef(
        [np.concatenate([report[metric].per_caption for report in reports.values()]) for metric in METRICS]
    )
    for i, a in enumerate([*METRICS, "m1"]):
        for j, b in enumerate([*METRICS, "m1"]):
            assert found["over systems", a][b] == pytest.approx(over_systems[i, j], abs=1e-9)
            if "m1" not in (a, b):
                assert found["over captions", a][b] == pytest.approx(over_captions[i, j], abs=1e-9)
    np.testing.assert_allclose(study.pictures["over-systems"].values, over_systems, atol=1e-9)
    np.testing.assert_allclose(study.pictures["over-captions"].values, over_captions, atol=1e-9)
    for metric in METRICS:
        r = found["over systems", "m1"][metric]
        assert found["over systems, low", "m1"][metric] <= r <= found["over systems, high", "m1"][metric]
    points = study.pictures["m1-rouge-l"].lines["systems"]
    assert list(points.names) == [*reports]
    assert points.x.tolist() == [report["rouge-l"].score for report in reports.values()]
    assert points.y.tolist() == [*HUMAN.values()]
    assert list(study.columns) == ["what", "of", *METRICS, "m1"]
    assert not study.notes


@pytest.fixture
def caption_sets(captioners: Captioners, tmp_path: Path) -> dict[str, Path]:
    """The form of the sets of Cui et al. 2018: one caption of every training and validation image, by file name."""
    names = ("human", "neuraltalk", "showandtell", "showattendandtell")
    sets = {}
    for name, captions in zip(names, captioners[0].values(), strict=True):
        by_file = {f"COCO_train2014_{900_000 + n:012d}.jpg": "a dog" for n in range(5)}
        by_file |= captions  # COCO_val2014_000000391895.jpg
        write(tmp_path, f"{name}_all_captions.json", by_file)
        sets[name] = tmp_path / f"{name}_all_captions.json"
    return sets


def test_caption_sets_by_file_name_are_read(captioners: Captioners, caption_sets: dict[str, Path]) -> None:
    results, references = captioners
    human = dict(zip(caption_sets, HUMAN.values(), strict=True))
    by_number = {int(image[-16:-4]): texts for image, texts in references.items()}
    study = system_correlations(caption_sets, by_number, METRICS, human=human, match="common", ids="integer")
    expected = system_correlations(
        dict(zip(caption_sets, results.values(), strict=True)), references, METRICS, human=human
    )
    assert study.records == expected.records


def test_people_among_the_references_are_left_out(captioners: Captioners, caption_sets: dict[str, Path]) -> None:
    results, references = captioners
    human = dict(zip(caption_sets, HUMAN.values(), strict=True))
    with_people = {
        image: [*texts[:2], results["human"][image] + " .", *texts[2:]] for image, texts in references.items()
    }
    options: dict[str, Any] = {"human": human, "match": "common", "ids": "integer"}
    study = system_correlations(caption_sets, with_people, METRICS, people="human", **options)
    assert study.records == system_correlations(caption_sets, references, METRICS, **options).records
    with pytest.raises(ParameterError, match="no system is called people"):
        system_correlations(caption_sets, with_people, METRICS, people="people", **options)


def test_other_statistics_work_without_human_scores(captioners: Captioners) -> None:
    results, references = captioners
    study = system_correlations(results, references, METRICS[:2], statistic="kendall-tau-b")
    scores = np.array([[r[m] for m in METRICS[:2]] for (what, _), r in kinds(study).items() if what == "score"])
    expected = stats.kendalltau(*scores.T).statistic
    assert kinds(study)["over systems", "bleu-4"]["rouge-l"] == pytest.approx(expected)
    assert {what for what, _ in kinds(study)} == {"score", "over systems", "over captions"}


def test_systems_are_read_from_files(captioners: Captioners, tmp_path: Path) -> None:
    results, references = captioners
    contents = {**results, "references": references, "people": HUMAN}
    paths = {name: tmp_path / f"{name}.json" for name in contents}
    for name, content in contents.items():
        paths[name].write_text(json.dumps(content))
    study = system_correlations({n: paths[n] for n in results}, paths["references"], "rouge-l", human=paths["people"])
    assert study.data == {path.name: f"{zlib.crc32(path.read_bytes()):08x}" for path in paths.values()}
    assert kinds(study)["score", "human"]["people"] == 0.9
    in_memory = system_correlations(results, references, "rouge-l", human=HUMAN)
    assert study.records == in_memory.records


def test_human_scores_come_from_a_benchmark_of_systems(captioners: Captioners, tmp_path: Path) -> None:
    """M1 to M5 come from the leaderboard's file, also of systems whose entry has no scores there."""
    results, references = captioners
    teams = {
        name: {"M1": value, "M2": 1 - value, "M3": 1, "M4": 2, "M5": 3, "date": "d", "cap_c40": []}
        for name, value in {**HUMAN, "Montreal/Toronto": 0.1}.items()
    }
    write(tmp_path, "coco2015/teams.json", teams)
    study = system_correlations(results, references, "rouge-l", human="coco-2015@m2", data=tmp_path)
    found = kinds(study)
    assert [found["score", system]["m2"] for system in HUMAN] == [1 - value for value in HUMAN.values()]
    scores = [found["score", system]["rouge-l"] for system in HUMAN]
    test = stats.pearsonr(scores, [1 - value for value in HUMAN.values()])
    assert found["over systems", "m2"]["rouge-l"] == pytest.approx(test.statistic)
    assert found["over systems, p", "m2"]["rouge-l"] == pytest.approx(test.pvalue)
    every = kinds(system_correlations(results, references, "rouge-l", human="coco-2015", data=tmp_path))
    assert every["score", "one"].keys() >= {"m1", "m2", "m3", "m4", "m5"}
    files = {"Montreal-Toronto": results["one"], "two": results["two"], "three": results["three"]}
    slashed = kinds(system_correlations(files, references, "rouge-l", human="coco-2015@m2", data=tmp_path))
    assert slashed["score", "Montreal-Toronto"]["m2"] == 0.9
    with pytest.raises(ParameterError, match="m2 has no score for elsewhere") as refused:
        renamed = {"elsewhere": results["one"], "two": results["two"], "three": results["three"]}
        system_correlations(renamed, references, "rouge-l", human="coco-2015@m2", data=tmp_path)
    assert refused.value.where == "coco-2015@m2"
    assert refused.value.hint.endswith("there are scores for human, one, two, three, Montreal-Toronto")
    with pytest.raises(ParameterError, match="does not judge systems"):
        write_jsonl(
            tmp_path,
            "wmt16/daseg_to_english.jsonl",
            [{"pair": "cs-en", "candidate": "a", "reference": "a", "human": 1}],
        )
        system_correlations(results, references, "rouge-l", human="wmt16-daseg", data=tmp_path)


def test_constant_scores_have_no_correlation(captioners: Captioners) -> None:
    results, references = captioners
    found = kinds(system_correlations(results, references, "rouge-l", human=dict.fromkeys(HUMAN, 1.0)))
    assert found["over systems", "people"]["rouge-l"] is None
    assert found["over systems, low", "people"]["rouge-l"] is None
    assert found["over systems, p", "people"]["rouge-l"] is None
