"""Trains the metric concur, and writes its weights.

    python training/concur/train.py --data ../shared/data
    python training/concur/train.py --captions captions.json --ratings ratings.jsonl -o mine.safetensors

README.md beside this file says what each step does.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import kendalltau

from captious.data import Captions, References
from captious.errors import CaptiousError
from captious.learned.caption_features import EncodedLayer, soundness
from captious.learned.caption_weights import FEATURES, LANGUAGES, CaptionWeights, bundled
from captious.learned.concur import Concur
from coefficients import comparisons, fitted, pair_table, table
from encoder import frequent_words, train_encoder
from examples import Examples, checksums, flickr30k, own_examples
from junctions import train_junctions
from ngrams import count_ngrams
from recipe import GIVEN, Recipe


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder with coco/, cxc/, flickr8k/ and multi30k/")
    parser.add_argument("--language", default="en", help="of the captions, by its code; of those of --data, en or de")
    parser.add_argument("--captions", type=Path, help="captions of your own, a file of references")
    parser.add_argument("--ratings", type=Path, help="ratings of captions of your own, a file of JSON lines")
    parser.add_argument(
        "--threads", type=int, default=1, help="more are faster, but then results differ in the last bits"
    )
    for field in dataclasses.fields(Recipe):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    parser.add_argument("-o", "--output", type=Path, help="the file of weights; default: those of the package")
    options = vars(parser.parse_args())
    torch.set_num_threads(options.pop("threads"))
    data, language, captions = options.pop("data"), options.pop("language"), options.pop("captions")
    ratings, output = options.pop("ratings"), options.pop("output") or bundled(language)
    if (data is None) == (captions is None):
        parser.error("give --data or --captions")
    if captions is not None and output == bundled(language):
        parser.error("give --output, the file of the weights")
    if not output.parent.is_dir():
        parser.error(f"there is no folder {output.parent}")
    if data is not None and language not in LANGUAGES:
        parser.error(f"--data has no captions in {language}: give en or de, or --captions")
    if ratings is not None and captions is None:
        parser.error("--ratings are those of --captions")
    recipe = Recipe(**options)

    if captions is not None:
        examples = own_examples(captions, ratings, language)
    else:
        examples = Examples.read(data) if language == "en" else Examples.of(dict(flickr30k(data, language)), language)
    print(
        f"{len(examples.images):,} images, {len(examples.rated):,} rated captions, {len(examples.pairs):,} pairs; "
        f"{examples.left_out:,} captions left out"
    )
    words = frequent_words(examples, recipe)
    print("the model of junctions")
    left, right = train_junctions(examples, words, recipe)

    def weights(
        vectors: tuple[NDArray[np.float32], NDArray[np.float32]], of: Examples, **others: Any
    ) -> CaptionWeights:
        names = examples.tokens.vocabulary.words()
        values = {
            "about": {"language": language},
            "soundness": (0.0, 1.0),
            "bias": 0.0,
            "coefficients": np.zeros(len(FEATURES)),
            **others,
        }
        ngrams, documents, n_documents = count_ngrams(of, words, recipe)
        return CaptionWeights(
            tuple(names[i] for i in words),
            *vectors,
            left,
            right,
            ngrams,
            documents,
            n_documents,
            name="new",
            **values,
        )

    print("the encoder, without the images that are held out")
    kept, held_out = examples.part(held_out=False), examples.part(held_out=True)
    first = weights(train_encoder(kept, words, recipe), kept)
    limits = _soundness_of_people(held_out, first)
    bias, coefficients, figures = _fitted(examples, held_out, dataclasses.replace(first, soundness=limits), recipe)
    for name, value in figures.items():
        print(f"  {name}: {value:,}")

    print("the encoder, with all images")
    about = {
        "language": language,
        "recipe": dataclasses.asdict(recipe),
        "held out": figures,
        "data": checksums(data, language) if captions is None else {},
    }
    if captions is None:
        about["license"] = "Apache-2.0"
    final = weights(
        train_encoder(examples, words, recipe),
        examples,
        soundness=limits,
        bias=bias,
        coefficients=coefficients,
        about=about,
    )
    final.save(output)
    print(
        f"{output}: {output.stat().st_size:,} bytes; {dict(zip(FEATURES, coefficients.round(3).tolist(), strict=True))}"
    )


def _fitted(
    examples: Examples, held_out: Examples, weights: CaptionWeights, recipe: Recipe
) -> tuple[float, NDArray[np.float64], dict[str, float]]:
    """Return the bias and the coefficients of the score, and how well held-out captions and pairs are ordered.

    Without ratings, they are those of the package.
    """
    if not held_out.rated:
        shipped = CaptionWeights.load()
        return shipped.bias, shipped.coefficients, {"images held out": len(held_out.images)}
    features, held_out = Concur(weights=weights).features, held_out.balanced()
    rated = features(table(examples, held_out.rated))
    ratings = np.array([each.rating for each in held_out.rated])
    given = {FEATURES.index(name): getattr(recipe, name) for name in GIVEN}
    others = []
    if held_out.pairs:
        pairs = features(pair_table(examples, held_out.pairs))
        pair_ratings = np.array([each.rating for each in held_out.pairs])
        others = [(comparisons(pairs, pair_ratings, seed=recipe.seed), recipe.pairs)]
    bias, coefficients, tau = fitted(rated, ratings, given=given, others=others, seed=recipe.seed)
    figures = {"images held out": len(held_out.images), "tau-b of held-out rated captions": round(100 * tau, 1)}
    if held_out.pairs:
        of_pairs = kendalltau(pairs @ coefficients, pair_ratings).statistic
        figures["tau-b of held-out rated pairs"] = round(100 * of_pairs, 1)
    return bias / recipe.flatness, coefficients / recipe.flatness, figures


def _soundness_of_people(examples: Examples, weights: CaptionWeights) -> tuple[float, float]:
    """Return the 5th percentile and the standard deviation of the soundness of one caption of each image."""
    captions = tuple(examples.texts[numbers[0]] for numbers in examples.images.values())
    people = Captions(captions, References(tuple(range(len(captions))), captions, np.arange(len(captions) + 1)))
    found = soundness(people.layer(EncodedLayer(weights, examples.tokenizer))[0], weights)
    return float(np.percentile(found, 5)), float(found.std())


if __name__ == "__main__":
    try:
        main()
    except CaptiousError as error:
        sys.exit(f"error: {error}")
