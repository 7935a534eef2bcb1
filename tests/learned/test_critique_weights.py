"""Files of the weights of a critique."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.errors import ResourceError
from captious.learned.leic import CritiqueWeights
from tests.support.critiques import CAPTIONS, random_critique, small_recipe


def test_saved_critique_is_read_back_byte_for_byte(tmp_path: Path) -> None:
    trained = random_critique(small_recipe("bilinear", "context"))
    trained.save(tmp_path / "c.safetensors")
    loaded = CritiqueWeights.load(tmp_path / "c.safetensors")
    assert (loaded.words, loaded.label, loaded.image_model) == (trained.words, trained.label, "some-model")
    assert loaded.critique.recipe == trained.critique.recipe
    np.testing.assert_array_equal(loaded.sentences(CAPTIONS), trained.sentences(CAPTIONS))
    trained.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "c.safetensors").read_bytes()


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "c.safetensors"
    random_critique(small_recipe()).save(file)
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        content = bytearray(whole)
        if rng.random() < 0.3:
            content = content[: int(rng.integers(len(content)))]
        else:
            for place in rng.integers(0, 1200, 3):
                content[place] = int(rng.integers(256))
        file.write_bytes(content)
        try:
            CritiqueWeights.load(file)
        except ResourceError as error:
            refused += 1
            assert str(file) in str(error)
    assert refused > 50
    with pytest.raises(ResourceError, match="cannot read"):
        CritiqueWeights.load(tmp_path / "none")
