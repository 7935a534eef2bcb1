"""Composite: most protocols do not give the rated human reference to metrics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.judgment import judge
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import load


def test_smurf_protocol_has_images_of_flickr8k_with_all_references(shared_data: Path) -> None:
    """Feinglass and Yang 2021: BLEU-1, ROUGE-L, METEOR and CIDEr are within .006 of the published figures."""
    found = load(shared_data, "composite@smurf2021")
    assert isinstance(found, RatedCaptions)
    assert found.n == 3 * 997
    assert {*np.diff(found.captions.references.offsets)} == {5}
    result = judge(found, ["bleu-1", "rouge-l", "meteor", "cider-d"], resamples=1)["composite@smurf2021"]
    assert [figure.value for figure in result.values()] == pytest.approx([0.386, 0.393, 0.404, 0.407], abs=0.006)
