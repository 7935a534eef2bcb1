"""Trains the metric captious, and writes its weights.

    python training/captious/train.py --data ../shared/data

README.md beside this file says what each step does.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.learned.caption_agreement import Captious
from captious.learned.caption_features import EncodedLayer, soundness
from captious.learned.caption_weights import BUNDLED, FEATURES, CaptionWeights
from captious.text import PTB
from coefficients import fitted, pair_scores, table
from encoder import frequent_words, train_encoder
from examples import Examples, checksums
from junctions import train_junctions
from recipe import Recipe

_SLIPS = FEATURES.index("slips")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with coco/, cxc/ and flickr8k/")
    parser.add_argument(
        "--threads", type=int, default=1, help="more are faster, but then results differ in the last bits"
    )
    for field in dataclasses.fields(Recipe):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    parser.add_argument("-o", "--output", type=Path, default=BUNDLED)
    options = vars(parser.parse_args())
    torch.set_num_threads(options.pop("threads"))
    data, output = options.pop("data"), options.pop("output")
    recipe = Recipe(**options)

    examples = Examples.read(data)
    print(
        f"{len(examples.images):,} images, {len(examples.rated):,} rated captions, {len(examples.pairs):,} pairs; "
        f"{examples.left_out:,} captions left out"
    )
    words = frequent_words(examples, recipe)
    print("the model of junctions")
    left, right = train_junctions(examples, words, recipe)

    def weights(vectors: NDArray[np.float32], **others: object) -> CaptionWeights:
        names = examples.tokens.vocabulary.words()
        values = {"soundness": (0.0, 1.0), "bias": 0.0, "coefficients": np.zeros(len(FEATURES)), "about": {}, **others}
        return CaptionWeights(tuple(names[i] for i in words), vectors, left, right, name="new", **values)

    print("the encoder, without the images that are held out")
    first = weights(train_encoder(examples.part(held_out=False), words, recipe))
    held_out = examples.part(held_out=True)
    limits = _soundness_of_people(held_out, first)
    rated = held_out.rated
    features = Captious(weights=dataclasses.replace(first, soundness=limits)).features(table(examples, rated))
    ratings = np.array([each.rating for each in rated])
    bias, coefficients, tau = fitted(features, ratings, given={_SLIPS: recipe.slips}, seed=recipe.seed)
    pairs = pair_scores(examples, held_out, first)
    figures = {
        "images held out": len(held_out.images),
        "tau-b of held-out rated captions": round(100 * tau, 1),
        "tau-b of held-out rated pairs, cosine": round(100 * pairs, 1),
    }
    for name, value in figures.items():
        print(f"  {name}: {value:,}")

    print("the encoder, with all images")
    about = {
        "recipe": dataclasses.asdict(recipe),
        "held out": figures,
        "data": checksums(data),
        "license": "Apache-2.0",
    }
    final = weights(
        train_encoder(examples, words, recipe), soundness=limits, bias=bias, coefficients=coefficients, about=about
    )
    final.save(output)
    print(
        f"{output}: {output.stat().st_size:,} bytes; {dict(zip(FEATURES, coefficients.round(3).tolist(), strict=True))}"
    )


def _soundness_of_people(examples: Examples, weights: CaptionWeights) -> tuple[float, float]:
    """The 5th percentile and the standard deviation of the soundness of one caption of each image."""
    captions = tuple(examples.texts[numbers[0]] for numbers in examples.images.values())
    people = Captions(captions, References(tuple(range(len(captions))), captions, np.arange(len(captions) + 1)))
    found = soundness(people.layer(EncodedLayer(weights, PTB))[0], weights)
    return float(np.percentile(found, 5)), float(found.std())


if __name__ == "__main__":
    main()
