"""Files that are wrong in one way each, and what each of their readers says of them.

They are in ``tests/fuzz/wrong``, by the kind of file that they are meant to be; those in ``any`` are of no kind.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from captious.errors import CaptiousError
from captious.judgment.files import load_own
from captious.judgment.scores import read_scores
from captious.learned.leic import CritiqueWeights, as_critique_recipe
from captious.learned.networks import FeatureSet, NetworkWeights, as_recipe
from captious.metrics.pope import Pope
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.metrics.shared.objects import ImageObjects, as_object_words
from captious.metrics.smurf import SmurfConstants
from captious.models.chat import as_chat_model
from captious.models.image_features import ImageFeatures
from tests.golden.command_line import clean
from tests.golden.outcomes import LIBRARIES
from tests.golden.record import Record

WRONG = Path(__file__).parent / "wrong"
#: Kind of file -> how it is read, and the extensions that files of no kind are given.
READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "judgments": (load_own, ".jsonl"),
    "scores": (read_scores, ".json .txt"),
    "answers": (lambda path: Pope(labels=path), ".json"),
    "vocabularies": (as_object_words, ".json .txt"),
    "constants": (SmurfConstants.load, ".json"),
    "feature sets": (FeatureSet.load, ".json .toml"),
    "recipes of critiques": (as_critique_recipe, ".toml"),
    "recipes of networks": (as_recipe, ".toml"),
    "chat models": (as_chat_model, ".toml"),
    "objects": (ImageObjects.read, ".json .jsonl"),
    "weights of networks": (NetworkWeights.load, ".safetensors"),
    "weights of critiques": (CritiqueWeights.load, ".safetensors"),
    "frequencies": (DocumentFrequencies.load, ".idf"),
    "image features": (ImageFeatures.load, ".npz"),
}


@pytest.mark.parametrize("kind", READERS)
def test_files_are_refused_as_recorded(
    kind: str, record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All have a message without their secrets, name the file, and say what to do."""
    monkeypatch.delenv("CAPTIOUS_ENDPOINT", raising=False)
    read, extensions = READERS[kind]
    found: dict[str, Any] = {}
    of_no_kind = [(path, extension) for path in sorted((WRONG / "any").iterdir()) for extension in extensions.split()]
    of_this_kind = [(path, "") for path in sorted((WRONG / kind).iterdir())] if (WRONG / kind).exists() else []
    for original, extension in [*of_this_kind, *of_no_kind, (tmp_path / "missing", extensions.split()[0])]:
        path = tmp_path / f"{original.name}{extension}"
        if original.exists():
            path.write_bytes(original.read_bytes())
        try:
            found[path.name] = type(read(path)).__name__
        except CaptiousError as error:
            assert error.message
            assert len(error.message) < 200
            assert "secret" not in str(error)
            assert path.name in error.where or "endpoint" in error.message
            assert error.hint
            found[path.name] = {"error": type(error).__name__, "message": error.message, "where": error.where}
    record(f"wrong/{kind}", clean(found, {str(tmp_path): "FOLDER"}, LIBRARIES))
