"""Captions and ratings of one's own for the programs that train concur: what is refused, and with what words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import captious
from captious.errors import CaptionFileError, CaptiousError, EmptyInputError
from captious.learned.caption_weights import CaptionWeights

RATING = {"image": "17", "candidate": "a dog runs", "references": ["a dog on grass"], "rating": 4.5}


@pytest.fixture
def module(program: Callable[[str], ModuleType]) -> ModuleType:
    return program("examples")


def captions_file(folder: Path, n_images: int, n_captions: int) -> Path:
    path = folder / "captions.json"
    images = {str(i): [f"a dog {i} {'runs' if j else 'sits'} {j}" for j in range(n_captions)] for i in range(n_images)}
    path.write_text(json.dumps(images))
    return path


@pytest.mark.parametrize(
    ("n_images", "n_captions", "message"),
    [(100, 1, "0 of 100 images have two different captions"), (20, 2, "20 of 20 images")],
    ids=["one caption for each image", "few images"],
)
def test_too_few_captions_are_refused(
    module: ModuleType, tmp_path: Path, n_images: int, n_captions: int, message: str
) -> None:
    path = captions_file(tmp_path, n_images, n_captions)
    with pytest.raises(EmptyInputError, match=message) as caught:
        module.own_examples(path, None, "en")
    assert caught.value.where == str(path)
    assert "more captions of each image" in caught.value.hint


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "not an object"),
        (json.dumps({**RATING, "rating": 7}), "rating is 7, not a number from 0 to 5"),
        (json.dumps({**RATING, "rating": "good"}), "rating is 'good'"),
        (json.dumps({**RATING, "rating": float("nan")}), "rating is nan"),
        (json.dumps({**RATING, "references": []}), "not a list of one text or more"),
        (json.dumps({**RATING, "references": "a dog"}), "not a list of one text or more"),
        (json.dumps({**RATING, "candidate": None}), "candidate is None"),
        (json.dumps({**RATING, "image": 1.5}), "image is 1.5"),
        (json.dumps({key: value for key, value in RATING.items() if key != "image"}), "there is no 'image'"),
    ],
)
def test_a_damaged_rating_is_refused_with_its_line(module: ModuleType, tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_text(json.dumps(RATING) + "\n\n" + line + "\n")
    with pytest.raises(CaptionFileError, match=message) as caught:
        module.read_ratings(path)
    assert caught.value.where == f"{path}, line 3"


def test_ratings_are_read(module: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_text(json.dumps(RATING) + "\n")
    (rating,) = module.read_ratings(path)
    assert (rating.image, rating.candidate, rating.references, rating.rating) == tuple(
        tuple(value) if isinstance(value, list) else value for value in RATING.values()
    )
    with pytest.raises(CaptionFileError, match="cannot read the ratings"):
        module.read_ratings(tmp_path / "none.jsonl")


@pytest.mark.parametrize("ratings", [[3.0] * 400, [1.0, 4.0] * 10], ids=["all the same", "few"])
def test_ratings_that_nothing_can_be_fitted_to_are_refused(
    module: ModuleType, tmp_path: Path, ratings: list[float]
) -> None:
    path = tmp_path / "ratings.jsonl"
    rows = [{**RATING, "image": str(i), "rating": rating} for i, rating in enumerate(ratings)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(EmptyInputError, match="coefficients are fitted to at least 50"):
        module.own_examples(captions_file(tmp_path, 400, 2), path, "en")


def test_words_have_one_form_and_the_tokenizer_is_that_of_the_language(module: ModuleType, tmp_path: Path) -> None:
    examples = module.own_examples(captions_file(tmp_path, 60, 2), None, "en")
    assert len(examples.images) == 60
    assert "twelve" in examples.tokens.vocabulary.words()
    assert "12" not in examples.tokens.vocabulary.words()
    assert module.own_examples(captions_file(tmp_path, 60, 2), None, "fr").tokenizer.name == "unicode"


@pytest.mark.models
@pytest.mark.parametrize("language", ["fr", "de"])
def test_weights_are_trained_for_any_language(
    program: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, language: str
) -> None:
    pytest.importorskip("torch")
    output = tmp_path / "mine.safetensors"
    few = ["--steps", "3", "--batch", "16", "--junction-steps", "3", "--words", "100", "--buckets", "50"]
    files = ["--captions", str(captions_file(tmp_path, 60, 2)), "-o", str(output)]
    monkeypatch.setattr("sys.argv", ["train.py", "--language", language, *files, *few])
    program("train").main()
    assert captious.Concur(weights=output).explain("a dog 1", ["a dog 1 sits"]).score > 0
    assert CaptionWeights.load(output).language == language


@pytest.mark.models
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--language", "cn"], "cn"),
        (["--steps", "0"], "--steps is 0"),
        (["--words", "0"], "--words is 0"),
        (["--masked", "1"], "--masked is 1"),
    ],
)
def test_settings_that_nothing_can_be_trained_by_are_refused(
    program: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: list[str],
    message: str,
) -> None:
    pytest.importorskip("torch")
    files = ["--captions", str(captions_file(tmp_path, 60, 2)), "-o", str(tmp_path / "mine.safetensors")]
    monkeypatch.setattr("sys.argv", ["train.py", *files, *options])
    with pytest.raises(CaptiousError, match=message):
        program("train").main()
