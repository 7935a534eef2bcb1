"""Warnings of judgments and studies are shown and written with them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import captious
from captious.judgment import Study, studies
from captious.resources import meteor_tables as meteor
from tests.support.corpora import references_table
from tests.support.meteor_files import MeteorFiles

GRAMMAR = "SPICE is using the bundled approximate grammar"
FEW = "too few images for intervals and tests"
#: SPICE with the bundled grammar, and a metric without warnings.
METRICS = ["spice", "rouge-l"]
BUNDLED = captious.Settings(parser="bundled")

CANDIDATES = [
    "a dog runs",
    "a black cat",
    "two men walk",
    "a red bus on a street",
    "a street",
    "an old bicycle",
    "a bird in a tree",
    "a girl with a hat",
    "a plate of food",
    "a boat on the water",
    "a horse in a field",
    "a man on a bench",
]
#: The four references of an image: the candidates of the next ones.
REFERENCES = [[*(CANDIDATES[(row + step) % 12] + " today" for step in range(4))] for row in range(12)]


@pytest.fixture(autouse=True)
def small_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of METEOR with hardly a word in them, and a cache that is the test's own."""
    monkeypatch.setattr(meteor, "installed_folder", lambda package: None)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CAPTIOUS_METEOR_HOME", str(tmp_path / "tables"))
    MeteorFiles(synsets={"dog": [1]}, function_words=["a"]).write(tmp_path / "tables", data="")


def rated(folder: Path, n: int) -> Path:
    """Return judgments of n images: two captions of each, the first the better one."""
    path = folder / "rated.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for row in range(n):
            for caption, rating in ((CANDIDATES[row], 5), (CANDIDATES[(row + 6) % 12], 1)):
                own = {"candidate": caption, "references": REFERENCES[row], "image": str(row), "rating": rating}
                file.write(json.dumps(own) + "\n")
    return path


@pytest.mark.parametrize("n", [9, 12])
def test_judgment_has_warnings_about_few_images(tmp_path: Path, n: int) -> None:
    judgment = captious.judge(rated(tmp_path, n), METRICS, settings=BUNDLED, resamples=9)
    grammar, *few = judgment.warnings
    assert grammar.startswith(GRAMMAR)
    assert [warning[: len(FEW)] for warning in few] == ([FEW] if n == 9 else [])
    assert judgment.to_dict()["warnings"] == judgment.warnings


def test_warnings_name_lines_of_ratings_and_items_of_pairs(tmp_path: Path) -> None:
    """The ids of judged captions are not those of images."""
    own = rated(tmp_path, 9)
    with own.open("a") as file:
        file.write(json.dumps({"candidate": "", "references": REFERENCES[0], "image": "2", "rating": 1}) + "\n")
    (empty,) = (text for text in captious.judge(own, "rouge-l", resamples=9).warnings if "empty" in text)
    assert empty.startswith("1 of 19 candidates is empty (line 19)")
    own.write_text(json.dumps({"better": "a dog", "worse": "", "references": REFERENCES[0], "image": "2"}) + "\n")
    (empty,) = (text for text in captious.judge(own, "rouge-l", resamples=9).warnings if "empty" in text)
    assert empty.startswith("1 of 2 candidates is empty (item 2|0|1)")


def test_judgment_without_warnings_has_none_in_json(tmp_path: Path) -> None:
    judgment = captious.judge(rated(tmp_path, 12), "rouge-l", resamples=9)
    assert judgment.warnings == []
    assert "warnings" not in judgment.to_dict()


def test_repeated_warnings_are_listed_once(tmp_path: Path) -> None:
    own = rated(tmp_path, 9)
    (tmp_path / "again.jsonl").write_bytes(own.read_bytes())
    judgment = captious.judge([own, tmp_path / "again.jsonl"], METRICS, settings=BUNDLED, resamples=9)
    assert len(judgment.warnings) == 2


def test_warnings_name_the_benchmark_that_they_are_about(tmp_path: Path) -> None:
    many = rated(tmp_path, 12).rename(tmp_path / "many.jsonl")
    judgment = captious.judge([many, rated(tmp_path, 9)], METRICS, settings=BUNDLED, resamples=9)
    grammar, few = judgment.warnings
    assert grammar.startswith(GRAMMAR)
    assert few.startswith(f"rated@own: {FEW}")


#: A study of n images with these metrics and settings.
Run = Callable[[Path, int, list[str], captious.Settings | None], Study]


def candidates(n: int) -> dict[int, str]:
    return dict(enumerate(CANDIDATES[:n]))


STUDIES: dict[str, tuple[Run, bool]] = {  # and whether it has intervals over images
    "references": (
        lambda folder, n, metrics, settings: studies.reference_counts(
            rated(folder, n), metrics, [2, 4], settings=settings, draws=1, resamples=9
        ),
        True,
    ),
    "robustness": (
        lambda folder, n, metrics, settings: studies.robustness(
            references_table(REFERENCES[:n]), metrics, settings=settings, strengths=[1.0], resamples=9
        ),
        True,
    ),
    "agreement": (
        lambda folder, n, metrics, settings: studies.human_agreement(
            references_table(REFERENCES[:n]), metrics, settings=settings, resamples=9
        ),
        True,
    ),
    "metrics": (
        lambda folder, n, metrics, settings: studies.metric_correlations(rated(folder, n), metrics, settings=settings),
        False,
    ),
    "systems": (
        lambda folder, n, metrics, settings: studies.system_correlations(
            {str(step): dict(enumerate(CANDIDATES[step : step + n])) for step in range(3)},
            references_table(REFERENCES[:n]),
            metrics,
            settings=settings,
            match="common",
        ),
        False,
    ),
    "timing": (
        lambda folder, n, metrics, settings: studies.scoring_time(
            candidates(n), references_table(REFERENCES[:n]), metrics, settings=settings, repeats=1
        ),
        False,
    ),
}


@pytest.mark.parametrize("name", STUDIES)
def test_studies_have_warnings_about_few_images(tmp_path: Path, name: str) -> None:
    run, has_intervals = STUDIES[name]
    study = run(tmp_path, 9, METRICS, BUNDLED)
    assert sum(warning.startswith(GRAMMAR) for warning in study.warnings) == 1
    assert sum(warning.startswith(f"{FEW} (9)") for warning in study.warnings) == has_intervals
    assert study.to_dict()["warnings"] == list(study.warnings)


@pytest.mark.parametrize("name", ["references", "robustness", "agreement", "metrics", "timing"])
def test_study_without_warnings_has_none_in_json(tmp_path: Path, name: str) -> None:
    study = STUDIES[name][0](tmp_path, 12, ["rouge-l"], None)
    assert [*study.warnings] == []
    assert "warnings" not in study.to_dict()


def test_systems_on_different_images_are_warned_about() -> None:
    outputs = {"a": candidates(12), "b": candidates(11), "c": candidates(12)}
    study = studies.system_correlations(outputs, references_table(REFERENCES), "rouge-l", match="common")
    assert study.warnings == ["the systems were scored on different images, so their scores cannot be compared."]
