"""Trains the metric captious, and writes its weights.

    python training/captious/train.py --data ../shared/data

README.md beside this file says what each step does.
"""

from __future__ import annotations

import argparse
import dataclasses
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import kendalltau

from captious.data import Captions, References
from captious.learned.caption_features import EncodedLayer, soundness
from captious.learned.caption_weights import BUNDLED, FEATURES, CaptionWeights
from captious.learned.captious import Captious
from captious.text import PTB
from encoder import frequent_words, train_encoder
from examples import Examples, Rated
from junctions import train_junctions
from recipe import Recipe

_SLIPS = FEATURES.index("slips")
_PAIRS = 100_000  # of rated captions, whose order the coefficients are fitted to


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
    features = Captious(dataclasses.replace(first, soundness=limits)).features(_table(examples, rated))
    ratings = np.array([each.rating for each in rated])
    bias, coefficients, tau = _fitted(features, ratings, recipe)
    pairs = _pair_scores(examples, held_out, first)
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
        "data": _checksums(data),
        "license": "Apache-2.0",
    }
    final = weights(
        train_encoder(examples, words, recipe), soundness=limits, bias=bias, coefficients=coefficients, about=about
    )
    final.save(output)
    print(
        f"{output}: {output.stat().st_size:,} bytes; {dict(zip(FEATURES, coefficients.round(3).tolist(), strict=True))}"
    )


def _table(examples: Examples, rated: Sequence[Rated]) -> Captions:
    """Rated captions with their references."""
    texts = examples.texts
    offsets = np.concatenate([[0], np.cumsum([len(each.references) for each in rated])])
    references = tuple(texts[i] for each in rated for i in each.references)
    return Captions(
        tuple(texts[each.candidate] for each in rated), References(tuple(range(len(rated))), references, offsets)
    )


def _soundness_of_people(examples: Examples, weights: CaptionWeights) -> tuple[float, float]:
    """The 5th percentile and the standard deviation of the soundness of one caption of each image."""
    captions = tuple(examples.texts[numbers[0]] for numbers in examples.images.values())
    table = Captions(captions, References(tuple(range(len(captions))), captions, np.arange(len(captions) + 1)))
    found = soundness(table.layer(EncodedLayer(weights, PTB))[0], weights)
    return float(np.percentile(found, 5)), float(found.std())


def _fitted(
    features: NDArray[np.float64], ratings: NDArray[np.float64], recipe: Recipe
) -> tuple[float, NDArray[np.float64], float]:
    """The bias and the coefficients of the score, and Kendall's tau-b of the halves, each fitted to the other."""
    deviation = features.std(axis=0)
    scaled = features / deviation

    def ordered(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Coefficients that put pairs of captions in the order of their ratings; that of slips is given."""
        random = np.random.default_rng(recipe.seed)
        one, two = rows[random.integers(len(rows), size=(2, _PAIRS))]
        apart = np.abs(ratings[one] - ratings[two]) > 0.25
        sign = np.sign(ratings[one] - ratings[two])[apart, None]
        differences = (scaled[one[apart]] - scaled[two[apart]]) * sign

        def loss(free: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            margins = differences[:, :_SLIPS] @ free
            slope = -differences[:, :_SLIPS] / (1 + np.exp(margins))[:, None]
            return float(np.logaddexp(0, -margins).mean() + 1e-3 * free @ free), slope.mean(axis=0) + 2e-3 * free

        return np.append(minimize(loss, np.zeros(_SLIPS), jac=True).x, recipe.slips * deviation[_SLIPS])

    halves = np.random.default_rng(recipe.seed).permutation(len(ratings)) % 2
    taus = []
    for half in (0, 1):
        tested = halves == half
        taus.append(kendalltau(scaled[tested] @ ordered(np.flatnonzero(~tested)), ratings[tested]).statistic)
    combined = ordered(np.arange(len(ratings)))
    line = scaled @ combined

    def distance(free: NDArray[np.float64]) -> float:
        return float(((1 / (1 + np.exp(-(free[0] + free[1] * line))) - ratings / 5) ** 2).mean())

    bias, slope = minimize(distance, np.array([0.0, 1.0])).x
    return float(bias), slope * combined / deviation, float(np.mean(taus))


def _pair_scores(examples: Examples, held_out: Examples, weights: CaptionWeights) -> float:
    """Kendall's tau-b of the cosines of rated pairs."""
    texts, pairs = examples.texts, held_out.pairs
    table = Captions(
        tuple(texts[each.captions[0]] for each in pairs),
        References(
            tuple(range(len(pairs))), tuple(texts[each.captions[1]] for each in pairs), np.arange(len(pairs) + 1)
        ),
    )
    candidates, references = table.layer(EncodedLayer(weights, PTB))
    cosines = np.einsum("ij,ij->i", candidates.vectors, references.captions.vectors)
    return float(kendalltau(cosines, [each.rating for each in pairs]).statistic)


def _checksums(data: Path) -> dict[str, str]:
    names = (
        *("coco/captions_val2014.json.gz", "coco/evaluation_images.json.gz", "cxc/sits.jsonl.gz", "cxc/sts.jsonl.gz"),
        "flickr8k/captions.jsonl.gz",
    )
    return {name: f"{zlib.crc32((data / name).read_bytes()):08x}" for name in names}


if __name__ == "__main__":
    main()
