"""Training data of concur are separate from every evaluation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def module(program: Callable[[str], ModuleType]) -> ModuleType:
    return program("examples")


@pytest.mark.slow
@pytest.mark.nightly
def test_training_excludes_images_and_captions_of_evaluations(module: ModuleType, shared_data: Path) -> None:
    import gzip
    import json

    examples = module.Examples.read(shared_data)
    with gzip.open(shared_data / "coco" / "evaluation_images.json.gz") as file:
        evaluated = set(json.load(file))
    for name in ("scpp/swap_obj", "valse/plurals"):
        with gzip.open(shared_data / f"{name}.json.gz") as file:
            content = json.load(file)
        rows = content if isinstance(content, list) else content.values()
        evaluated |= {int(Path(row.get("filename") or row["image_file"]).stem[-12:]) for row in rows}
    assert len(examples.images) > 55_000
    assert len(examples.rated) > 30_000
    images = {*examples.images, *(i for each in (*examples.rated, *examples.pairs) for i in each.images)}
    assert not images & evaluated
    with gzip.open(shared_data / "coco" / "captions_val2014.json.gz") as file:
        rows = json.load(file)["annotations"]
    with gzip.open(shared_data / "flickr8k" / "captions.jsonl.gz", "rt") as file:
        rows_8k = [json.loads(line) for line in file]
    of_30k = {image for image in images if isinstance(image, str)} - {row["image"] for row in rows_8k}
    assert len(of_30k) > 20_000
    assert not {row["image"].split("_")[0] for row in rows_8k} & {image.split(".")[0] for image in of_30k}
    of_evaluated = {module.letters(row["caption"]) for row in rows if row["image_id"] in evaluated}
    letters = {module.letters(text) for text in examples.texts}
    assert not letters & module.evaluation_captions(shared_data)
    assert not letters & of_evaluated


def test_held_out_images_are_in_no_training_part(module: ModuleType) -> None:
    assert sum(module._is_held_out(image) for image in range(10_000)) == pytest.approx(2_500, abs=200)


def test_examples_without_images_keep_their_texts(module: ModuleType) -> None:
    examples = module.Examples.of({"1.jpg": ["a dog runs", "a running dog"], "2": ["a bus", "a red bus"]}, "en")
    left = examples.without({"1.jpg"})
    assert [*left.images] == ["2"]
    assert left.texts == examples.texts
