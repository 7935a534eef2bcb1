"""``fit_resource``, from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.errors import ParameterError
from captious.evaluation.scoring import fit_resource
from captious.metrics.contract.settings import Settings
from captious.metrics.smurf import SmurfConstants

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_document_frequencies_are_those_of_the_references() -> None:
    references = EXAMPLES / "references.json"
    fitted = fit_resource("cider-d", [references])
    assert isinstance(fitted.resource, captious.DocumentFrequencies)
    assert fitted.resource.checksum == captious.DocumentFrequencies.of(references).checksum
    assert fitted.warnings == []


def test_fit_to_candidates_is_warned_about() -> None:
    assert "only one caption" in fit_resource("cider-d", [EXAMPLES / "baseline.json"]).warnings[0]


def test_messages_name_arguments_as_python_has_them() -> None:
    with pytest.raises(ParameterError, match=r"idf=FILE cannot be used.*\n.*remove idf=FILE"):
        fit_resource("cider-d", [EXAMPLES / "references.json"], settings=Settings(idf="coco"))


@pytest.mark.parametrize(
    ("metric", "files", "options", "message"),
    [
        ("cider-d", 2, {}, "cider-d is fitted to one file of references"),
        ("rouge-l", 1, {}, "rouge-l cannot be fitted"),
        ("cider-d", 1, {"human": EXAMPLES / "improved.json"}, "cider-d does not take human captions"),
        ("chair", 0, {}, "no objects were given"),
        ("chair", 1, {"settings": Settings(objects={1: ["dog"]})}, "objects=FILE cannot be used"),
    ],
)
def test_fits_that_make_no_sense_are_refused(metric: str, files: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        fit_resource(metric, [EXAMPLES / "references.json"] * files, **options)


@pytest.mark.models
def test_human_captions_are_read_by_column(tmp_path: Path, roberta: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    people = json.loads((EXAMPLES / "improved.json").read_text())
    renamed = tmp_path / "renamed.json"
    renamed.write_text(json.dumps([{"key": row["image_id"], "text": row["caption"]} for row in people]))
    settings, references = Settings(model=roberta), [EXAMPLES / "references.json"]
    file = captious.CaptionFile(renamed, columns="id=key,caption=text")
    renamed_columns, usual = (
        fit_resource("smurf", references, human=human, settings=settings).resource
        for human in (file, EXAMPLES / "improved.json")
    )
    assert isinstance(renamed_columns, SmurfConstants)
    assert isinstance(usual, SmurfConstants)
    assert (renamed_columns.sparcs, renamed_columns.mima) == (usual.sparcs, usual.mima)
    assert renamed_columns.source == "renamed.json, with the references references.json; 24 images"
