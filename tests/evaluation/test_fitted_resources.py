"""``fit_resource``, from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import captious
from captious.errors import ParameterError
from captious.evaluation.fitted_resources import fit_resource
from captious.metrics.contract.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_document_frequencies_are_those_of_the_references() -> None:
    references = EXAMPLES / "references.json"
    fitted = fit_resource("cider-d", [references])
    assert isinstance(fitted.resource, captious.DocumentFrequencies)
    assert fitted.resource.checksum == captious.DocumentFrequencies.of(references).checksum
    assert fitted.warnings == []


def test_candidates_are_noticed() -> None:
    assert "only one caption" in fit_resource("cider-d", [EXAMPLES / "baseline.json"]).warnings[0]


def test_messages_name_arguments_as_python_has_them() -> None:
    with pytest.raises(ParameterError, match=r"idf=FILE cannot be used.*\n.*remove idf=FILE"):
        fit_resource("cider-d", [EXAMPLES / "references.json"], settings=Settings(idf="coco"))
