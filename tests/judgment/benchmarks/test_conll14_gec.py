"""CoNLL-14: the input is left out, and there are no published scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError
from tests.support.judgments import load, write


def test_list_instead_of_an_object_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "conll14_gec/systems.json", {"outputs": ["X"]})
    with pytest.raises(CaptionFileError, match="do not have the expected format"):
        load(tmp_path, "conll14-gec")
