"""Train a critique of LEIC with images on the training images of Flickr8k."""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from captious.data import References
from captious.files import check_place
from captious.learned.leic import as_critique_recipe
from captious.learned.training.critiques import train_critique
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures


def read_split(data: Path, split: str) -> References:
    """Return the captions of the images of a split: train, dev or test."""
    with gzip.open(data / "flickr8k/captions.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["split"] == split]
    offsets = np.cumsum([0, *(len(row["captions"]) for row in rows)])
    texts = tuple(text for row in rows for text in row["captions"])
    return References(tuple(row["image"] for row in rows), texts, offsets, name=f"flickr8k {split}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of judgment data")
    parser.add_argument("--images", type=Path, help="file of image features; without it, no images")
    parser.add_argument("--vectors", help="word vectors to start from")
    parser.add_argument("--recipe", default="leic-flickr8k", help="name or file")
    parser.add_argument("-o", "--output", type=Path, required=True, help="file of weights")
    given = parser.parse_args(arguments)
    check_place(given.output)
    trained, course = train_critique(
        read_split(given.data, "train"),
        as_critique_recipe(given.recipe),
        images=None if given.images is None else ImageFeatures.load(given.images),
        vectors=None if given.vectors is None else WordVectors.open(given.vectors),
        name=given.output.name.partition(".")[0],
    )
    trained.save(given.output)
    for epoch, (loss, accuracy) in enumerate(zip(course.losses, course.accuracies, strict=True), 1):
        print(f"epoch {epoch}: loss {loss:.4f}, training accuracy {accuracy:.1%}")
    print(f"{given.output}: {trained.contents}")


if __name__ == "__main__":
    main()
