"""Trains the variant full of the metric concur: a head on a contextual encoder, and its coefficients.

    python training/concur/train_head.py --data ../shared/data --model sentence-transformers/all-MiniLM-L6-v2
    python training/concur/train_head.py --captions captions.json --model MODEL -o mine.safetensors

README.md beside this file says what each step does.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import CaptiousError, ResourceError
from captious.learned.caption_features import BUNDLED_HEAD, FULL_FEATURES, EncoderHead, centroids, probe, similarities
from captious.learned.caption_weights import CaptionWeights
from captious.learned.concur import Concur
from captious.models import Encoder
from captious.models.encoders import PRECISIONS
from coefficients import fitted
from encoder import frequent_words, train_encoder
from examples import Examples, checksums, flickr30k, own_examples
from head import States, train_head
from negatives import Negative, make_negatives
from recipe import GIVEN, HeadRecipe, Recipe


class Features:
    """Features of captions from states that are there already.

    Args:
        examples: captions.
        states: of them.
        light: weights of the variant ``light``.
        matrix: of the head.
    """

    def __init__(self, examples: Examples, states: States, light: CaptionWeights, matrix: NDArray[np.float32]) -> None:
        self._texts, self._states, self._light = examples.texts, states, light
        self._vectors = states.vectors(matrix)

    def __call__(
        self, candidates: Sequence[str], rows: NDArray[np.int64], references: Sequence[Sequence[int]]
    ) -> NDArray[np.float64]:
        """float64[n, k], as ``Concur.features``.

        Args:
            candidates: their texts.
            rows: of their states.
            references: numbers of captions.
        """
        offsets = np.concatenate([[0], np.cumsum([len(numbers) for numbers in references])])
        flat = np.array([i for numbers in references for i in numbers])
        texts = tuple(self._texts[i] for i in flat)
        captions = Captions(tuple(candidates), References(tuple(range(len(candidates))), texts, offsets))
        vectors = self._vectors[self._states.of_captions[flat]]
        headed = similarities(self._vectors[rows], vectors, offsets, centroids(vectors, offsets))
        return np.hstack([headed, Concur(weights=self._light).features(captions)])

    def of_wrong(
        self, examples: Examples, negatives: Mapping[int | str, Negative]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return features of captions against the others of their image, and of what was made wrong of them."""
        others = {
            image: [i for i in captions.tolist() if i != negatives[image].caption]
            for image, captions in examples.images.items()
            if image in negatives
        }
        images = [image for image, captions in others.items() if len(captions) > 1]
        references = [others[image] for image in images]
        numbers = [negatives[image].caption for image in images]
        return (
            self([self._texts[i] for i in numbers], self._states.of_captions[numbers], references),
            self(
                [" ".join(negatives[image].words) for image in images],
                np.array([self._states.of_negatives[image] for image in images]),
                references,
            ),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder with coco/, cxc/, flickr8k/ and multi30k/")
    parser.add_argument("--captions", type=Path, help="English captions of your own, a file of references")
    parser.add_argument("--ratings", type=Path, help="ratings of captions of your own, a file of JSON lines")
    parser.add_argument("--model", required=True, help="the encoder: a name on the Hugging Face hub, or a folder")
    parser.add_argument("--device", default="auto", help="of the encoder")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="of the encoder")
    parser.add_argument("--states", type=Path, help="a file (.npz) that keeps the encoder's states for another run")
    parser.add_argument("--name", help="what the weights call the encoder; default: its name, or that of its folder")
    parser.add_argument(
        "--threads", type=int, default=1, help="more are faster, but then results differ in the last bits"
    )
    for field in dataclasses.fields(HeadRecipe):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    parser.add_argument("-o", "--output", type=Path, help="the file of weights; default: that of the package")
    options = vars(parser.parse_args())
    torch.set_num_threads(options.pop("threads"))
    data, captions, ratings = options.pop("data"), options.pop("captions"), options.pop("ratings")
    output, name, kept_states = options.pop("output") or BUNDLED_HEAD, options.pop("name"), options.pop("states")
    if (data is None) == (captions is None):
        parser.error("give --data or --captions")
    if captions is not None and output == BUNDLED_HEAD:
        parser.error("give --output, the file of the weights")
    if not output.parent.is_dir():
        parser.error(f"there is no folder {output.parent}")
    if ratings is not None and captions is None:
        parser.error("--ratings are those of --captions")
    shipped = CaptionWeights.load()
    if captions is None:
        examples = Examples.read(data).balanced()
        learned = examples.without({image for image, _ in flickr30k(data, "en")})
    else:
        learned = examples = own_examples(captions, ratings, "en").balanced()
    encoder = Encoder(options.pop("model"), options.pop("device"), options.pop("precision"))
    recipe = HeadRecipe(**options)

    print(f"{len(examples.images):,} images, {len(examples.rated):,} rated captions, {len(examples.pairs):,} pairs")
    light = shipped if captions is not None else _without_held_out(examples, shipped)
    negatives = make_negatives(examples, light.words, light.vectors, seed=recipe.seed)
    print(f"hidden states of {len(examples.texts):,} captions and {len(negatives):,} wrong ones")
    states = States.of(encoder, examples, negatives, kept_states)

    def head(matrix: NDArray[np.float32], **others: Any) -> EncoderHead:
        values: dict[str, Any] = {"bias": 0.0, "coefficients": np.zeros(len(FULL_FEATURES)), "about": {}, **others}
        return EncoderHead(name or encoder.name, probe(encoder), matrix, shipped.name, name="new", **values)

    print("the head, without the images that are held out")
    features_of = Features(examples, states, light, train_head(states, learned.part(held_out=False), recipe))
    bias, coefficients, figures = _fitted(features_of, examples, states, negatives, recipe)
    for title, value in figures.items():
        print(f"  {title}: {value:,}")

    print("the head, with all images")
    final = head(
        train_head(states, learned, recipe),
        bias=bias,
        coefficients=coefficients,
        about={
            "recipe": dataclasses.asdict(recipe),
            "precision": encoder.precision,
            "held out": figures,
            "data": {} if data is None else checksums(data),
            **({} if data is None else {"license": "Apache-2.0"}),
        },
    )
    final.save(output)
    print(
        f"{output}: {output.stat().st_size:,} bytes; "
        f"{dict(zip(FULL_FEATURES, coefficients.round(3).tolist(), strict=True))}"
    )


def _without_held_out(examples: Examples, shipped: CaptionWeights) -> CaptionWeights:
    """Return the weights of the variant ``light`` with vectors that were trained without the held-out images."""
    print("the vectors of words, without the images that are held out")
    words, names = frequent_words(examples, Recipe()), examples.tokens.vocabulary.words()
    if tuple(names[i] for i in words) != shipped.words:
        raise ResourceError(
            "the weights of the variant light were trained on other data", hint="run train.py with this --data first"
        )
    vectors, subwords = train_encoder(examples.part(held_out=False), words, Recipe())
    return dataclasses.replace(shipped, vectors=vectors, subwords=subwords, name="held-out")


def _fitted(
    features_of: Features,
    examples: Examples,
    states: States,
    negatives: Mapping[int | str, Negative],
    recipe: HeadRecipe,
) -> tuple[float, NDArray[np.float64], dict[str, float]]:
    """Return the bias and the coefficients of the score, and how well held-out captions are ordered.

    Without ratings, they are those of the package.
    """
    held_out = examples.part(held_out=True)
    if not held_out.rated:
        shipped = EncoderHead.load()
        return shipped.bias, shipped.coefficients, {"images held out": len(held_out.images)}
    rated = held_out.rated
    features = features_of(
        [examples.texts[each.candidate] for each in rated],
        states.of_captions[[each.candidate for each in rated]],
        [each.references for each in rated],
    )
    right, wrong = features_of.of_wrong(held_out, negatives)
    bias, coefficients, tau = fitted(
        features,
        np.array([each.rating for each in rated]),
        given={FULL_FEATURES.index(name): getattr(Recipe(), name) for name in GIVEN},
        others=[(right - wrong, recipe.wrong)] if len(right) else [],
        seed=recipe.seed,
    )
    flatness = Recipe().flatness
    figures = {"images held out": len(held_out.images), "tau-b of held-out rated captions": round(100 * tau, 1)}
    return bias / flatness, coefficients / flatness, figures


if __name__ == "__main__":
    try:
        main()
    except CaptiousError as error:
        sys.exit(f"error: {error}")
