"""nocaps-FOIL: captions one by one for average precision, and pairs for the forced choice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.judgment.judgments import CaptionPairs, RatedCaptions
from tests.support.judgments import load, write

RECORDS = [
    {
        "image_path": f"{domain}.jpg",
        "references": ["a dog", "the dog"],
        "baseline": f"a dog {domain}",
        "foil": f"a cow {domain}",
        "replacement": ["dog", "cow"],
        "domain": domain,
    }
    for domain in ("out-domain", "in-domain", "near-domain")
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "aloha/nocaps-val-foil.json", RECORDS)
    return tmp_path


def test_nocaps_foil_captions_have_average_precision(folder: Path) -> None:
    found = load(folder, "nocaps-foil")
    assert isinstance(found, RatedCaptions)
    assert found.captions.candidates[:2] == ("a dog out-domain", "a cow out-domain")
    assert [each.tolist() for each in found.ratings] == [[1], [0]] * 3
    assert found.units.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.values(np.array([1, 0, 1, 0, 1, 0.0])).tolist() == [1.0]
    assert found.values(np.array([0, 1, 0, 1, 0, 1.0])).tolist() == [0.5]  # three right of the six that are seen first


def test_nocaps_foil_domains_are_parts(folder: Path) -> None:
    found = load(folder, "nocaps-foil@domains")
    assert list(found.part_names) == ["in-domain", "near-domain", "out-domain"]
    assert found.values(np.array([1, 0, 0, 1, 1, 0.0])).tolist() == [0.5, 1.0, 1.0]


def test_nocaps_foil_pairs_are_read(folder: Path) -> None:
    found = load(folder, "nocaps-foil@forced-choice")
    assert isinstance(found, CaptionPairs)
    assert found.values(np.array([1, 0, 0, 1, 1, 1.0])).tolist() == [0.0, 0.5, 1.0]
