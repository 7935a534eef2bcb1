"""Systems compared with people: the published analysis from the shipped columns, and a small one from captions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from captious.data import References
from captious.errors import CaptionFileError, ParameterError
from captious.judgment.studies.distributions import PEOPLE, hold_out, smurf_analysis, smurf_scores
from captious.metrics.smurf import PUBLISHED, Smurf, fuse
from tests.support.corpora import references_table
from tests.support.random_roberta import CAPTIONS, random_roberta


@pytest.fixture(scope="module")
def metric(tmp_path_factory: pytest.TempPathFactory) -> Smurf:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    folder = str(random_roberta(tmp_path_factory.mktemp("roberta")))
    return Smurf(model=folder)


@pytest.fixture
def references() -> References:
    """Every image has three references, but the last has one."""
    n = len(CAPTIONS)
    return references_table([[CAPTIONS[i], CAPTIONS[(i + 1) % n], CAPTIONS[(i + 2) % n]] for i in range(n)] + [["sky"]])


def test_published_smurf_analysis_is_reproduced(shared_data: Path) -> None:
    file = shared_data / "smurf" / "karpathy_4captioners.jsonl.gz"
    study = smurf_scores(file)
    assert [record["system"] for record in study.records] == [PEOPLE, "system 1", "system 2", "system 3"]
    people, *systems = study.records
    assert people["overlap"] == pytest.approx(1)
    overlaps = [record["overlap"] for record in systems]
    np.testing.assert_allclose(overlaps, [0.4902016, 0.7917244, 0.7110253], rtol=0, atol=5e-8)
    penalties = [record["grammar_penalty"] for record in study.records]  # the paper prints two digits
    np.testing.assert_allclose(penalties, [-44.925413, -7.467223, -7.561214, -4.464583], rtol=0, atol=5e-7)
    centers = [(record["sparcs"], record["spurts"]) for record in systems]
    np.testing.assert_allclose(centers, [(0.3537, -0.8624), (0.0787, -0.319), (-0.3007, -0.454)], rtol=0, atol=5e-5)
    means = [record["smurf"] for record in study.records]
    np.testing.assert_allclose(means, [0.630457, 0.491364, 0.515654, 0.355130], rtol=0, atol=5e-7)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for number, record in enumerate(study.records):
        columns = (np.array([r["smurf_scores"][number][part] for r in rows]) for part in ("SPARCS", "SPURTS", "MIMA"))
        points = np.stack(PUBLISHED.standardized(*columns)[:2], axis=1)
        nearest = np.hypot(*(points - (record["sparcs"], record["spurts"])).T).argmin()
        assert record["central_caption"] == rows[nearest]["captions"][number]
    assert [*study.pictures] == ["smurf"]


def test_malformed_author_scores_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "scores.jsonl"
    row = {"image": 1, "captions": ["a", "b"], "smurf_scores": [{"SPARCS": 0.1, "SPURTS": 0.2, "MIMA": 0.3}] * 2}
    for rows in ([row], [row, row | {"captions": ["a"]}], [row, row | {"smurf_scores": []}], [row, {"image": 2}], [{}]):
        file.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
        with pytest.raises(CaptionFileError, match="not SMURF's scores of two or more images"):
            smurf_scores(file)


@pytest.mark.models
def test_smurf_analysis_is_computed_from_captions(metric: Smurf, references: References) -> None:
    n = len(references)
    systems = {"same": dict(enumerate(["a man"] * n)), "other": dict(enumerate([*CAPTIONS[::-1], "a sky"]))}
    study = smurf_analysis(systems, references, metric, seed=3)
    people = hold_out(references, 3)[0]
    assert [record["system"] for record in study.records] == [PEOPLE, "same", "other"]
    assert [record["captions"] for record in study.records] == [n - 1] * 3
    first, same, other = study.records
    parts = metric.standardized(people)
    assert first["sparcs"] == pytest.approx(parts[0].mean())
    assert first["smurf"] == pytest.approx(fuse(*parts).mean())
    assert first["overlap"] == pytest.approx(1)
    assert first["central_caption"] in CAPTIONS
    assert same["overlap"] is None or 0 <= same["overlap"] <= 1
    assert same["central_caption"] == "a man"
    assert 0 <= other["overlap"] <= 1
    assert study.signatures == {"smurf": metric.signatures()[0]}
    assert any("held out" in note for note in study.notes)
    assert any("1 image with a single reference" in note for note in study.notes)
    assert any("computed with other models" in warning for warning in study.warnings)
    json.dumps(study.to_dict(), allow_nan=False)
    clouds = study.pictures["smurf"].clouds
    assert [*clouds] == [PEOPLE, "same", "other"]
    np.testing.assert_allclose(np.sort(clouds[PEOPLE].points, axis=0), np.sort(np.stack(parts[:2], axis=1), axis=0))
    assert clouds["other"].points.shape == (n - 1, 2)
    assert clouds["other"].outline.shape == (64, 2)


@pytest.mark.models
def test_smurf_analysis_uses_given_human_captions(metric: Smurf, references: References) -> None:
    n = len(references)
    human = {i: references.texts[references.offsets[i]] for i in range(n)}
    study = smurf_analysis({"same": dict(enumerate(["a man"] * n))}, references, metric, human=human)
    assert [record["captions"] for record in study.records] == [n, n]
    assert any(f"{n} human captions are among their own references" in note for note in study.notes)


@pytest.mark.models
def test_invalid_smurf_analyses_are_refused(metric: Smurf, references: References) -> None:
    with pytest.raises(ParameterError, match="no system"):
        smurf_analysis({}, references, metric)
    with pytest.raises(ParameterError, match="is called people"):
        smurf_analysis({PEOPLE: {}}, references, metric)
    with pytest.raises(ParameterError, match="fewer than two"):
        smurf_analysis({"one": {0: "a dog"}}, references_table([["a", "b"]]), metric)


@pytest.mark.models
def test_smurf_picture_is_deterministic(metric: Smurf, references: References, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from captious.report.plots import write_plots

    study = smurf_analysis({"other": dict(enumerate([*CAPTIONS[::-1], "a sky"]))}, references, metric)
    (first,) = write_plots(tmp_path / "first", study)
    (again,) = write_plots(tmp_path / "again", study)
    assert first.name == "smurf.png"
    assert first.read_bytes() == again.read_bytes()
