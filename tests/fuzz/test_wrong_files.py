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
from captious.learned.training.examples import read_examples
from captious.metrics.pope import Pope
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.metrics.shared.objects import ImageObjects, as_object_words
from captious.metrics.smurf import SmurfConstants
from captious.models.chat import as_chat_model
from captious.models.image_features import ImageFeatures
from captious.parsing.parse_files import read_parses
from captious.resources.corenlp import read_grammar
from captious.resources.java_objects import read_object
from captious.resources.pickles import read_pickle
from captious.resources.vectors import VectorFile
from tests.golden.command_line import clean
from tests.golden.outcomes import LIBRARIES
from tests.golden.record import Record

WRONG = Path(__file__).parent / "wrong"
#: Kind of file -> how it is read, and the extensions that files of no kind are given; none where their errors are those
#: of a library.
READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "judgments": (load_own, ".jsonl"),
    "scores": (read_scores, ".json .txt"),
    "answers": (lambda path: Pope(labels=path), ".json"),
    "vocabularies": (as_object_words, ".json .txt"),
    "constants": (SmurfConstants.load, ".json"),
    "feature sets": (FeatureSet.load, ".json .toml"),
    "recipes of critiques": (as_critique_recipe, ".toml"),
    "recipes of networks": (as_recipe, ".toml"),
    "examples": (read_examples, ".jsonl"),
    "parses": (read_parses, ".jsonl .conllu"),
    "chat models": (as_chat_model, ".toml"),
    "objects": (ImageObjects.read, ".json .jsonl"),
    "weights of networks": (NetworkWeights.load, ".safetensors"),
    "weights of critiques": (CritiqueWeights.load, ".safetensors"),
    "frequencies": (DocumentFrequencies.load, ".idf"),
    "pickles of frequencies": (DocumentFrequencies.from_pickle, ""),
    "image features": (ImageFeatures.load, ".npz"),
    "word vectors": (lambda path: VectorFile(path).compiled("0" * 16), ".txt"),
    "pickles": (lambda path: read_pickle(path.read_bytes()), ".pkl"),
    "java streams": (lambda path: read_object(path.read_bytes()), ".ser"),
    "grammars": (lambda path: read_grammar(path.read_bytes(), path.name), ".ser.gz"),
}


#: Those that read bytes, so that their errors name no file.
OF_BYTES = ("pickles", "java streams", "grammars")


def answer(read: Callable[[Path], object], path: Path, errors: type[Exception]) -> Any:
    """Return the error that a file is refused with, or the class of what is read."""
    try:
        return type(read(path)).__name__
    except errors as error:
        if not isinstance(error, CaptiousError):
            return {"error": type(error).__name__, "message": str(error)}
        assert error.message
        assert len(error.message) < 200
        assert "secret" not in str(error)
        assert path.name in error.where or "endpoint" in error.message
        assert error.hint
        return {"error": type(error).__name__, "message": error.message, "where": error.where}


@pytest.mark.parametrize("kind", READERS)
def test_files_are_refused_as_recorded(
    kind: str, record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All have a message without their secrets, name the file, and say what to do; nothing is left in the cache."""
    monkeypatch.delenv("CAPTIOUS_ENDPOINT", raising=False)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    read, extensions = READERS[kind]
    of_no_kind = [(path, extension) for path in sorted((WRONG / "any").iterdir()) for extension in extensions.split()]
    of_this_kind = [(path, "") for path in sorted((WRONG / kind).iterdir())] if (WRONG / kind).exists() else []
    found: dict[str, Any] = {}
    for original, extension in [*of_this_kind, *of_no_kind]:
        path = tmp_path / f"{original.name}{extension}"
        path.write_bytes(original.read_bytes())
        found[path.name] = answer(read, path, ValueError if kind in OF_BYTES else CaptiousError)
    if kind not in OF_BYTES:
        missing = tmp_path / f"missing{extensions.partition(' ')[0]}"
        found[missing.name] = answer(read, missing, CaptiousError)
    assert not [*(tmp_path / "cache").rglob("*.rows"), *(tmp_path / "cache").rglob(".captious-*")]
    record(f"wrong/{kind}", clean(found, {str(tmp_path): "FOLDER"}, LIBRARIES))
