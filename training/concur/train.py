"""Trains the metric concur, and writes its weights.

    python training/concur/train.py --data ../shared/data
    python training/concur/train.py --captions captions.json --ratings ratings.jsonl -o mine.safetensors

README.md beside this file says what each step does.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from captious.errors import CaptiousError
from captious.learned.caption_features import EncodedLayer, soundness
from captious.learned.caption_weights import FEATURES, LANGUAGES, OF_PACKAGE, STRICT, CaptionWeights
from captious.learned.concur import Concur
from captious.learned.files import bundled, packed, unpacked
from captious.text.languages import as_language
from coefficients import Comparisons, fitted, scaled, table, text_table
from comparisons import adversarial, of_benchmarks, of_held_out
from encoder import frequent_words, train_encoder
from examples import Examples, checksums, flickr30k, own_examples
from junctions import train_junctions
from recipe import NOT_FITTED, Recipe
from synonyms import read_license, read_synonyms


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
    parser.add_argument("--encoders", type=Path, help="a file (.npz) that keeps what was trained, to fit again")
    parser.add_argument("-o", "--output", type=Path, help="the file of weights; default: those of the package")
    options = vars(parser.parse_args())
    torch.set_num_threads(options.pop("threads"))
    data, language, captions = options.pop("data"), options.pop("language"), options.pop("captions")
    ratings, output, kept_encoders = (options.pop(name) for name in ("ratings", "output", "encoders"))
    if (data is None) == (captions is None):
        parser.error("give --data or --captions")
    as_language(language)
    if data is not None and language not in LANGUAGES:
        parser.error(f"--data has no captions in {language}: give en or de, or --captions")
    of_package = bundled(OF_PACKAGE.get(language, language))
    output = output or of_package
    if captions is not None and output == of_package:
        parser.error("give --output, the file of the weights")
    if not output.parent.is_dir():
        parser.error(f"there is no folder {output.parent}")
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
    trained = _trained(examples, words, recipe, kept_encoders)
    names = tuple(map(examples.tokens.vocabulary.words().__getitem__, words))

    def weights(vectors: str, **others: Any) -> CaptionWeights:
        values = {"about": {"language": language}, "soundness": (0.0, 1.0), "bias": 0.0, "name": vectors, **others}
        values |= {"synonyms": read_synonyms(names, language)}
        values = {"coefficients": np.zeros(len(FEATURES)), "strict": np.zeros(len(STRICT)), **values}
        tensors: Any = (trained[name] for name in (f"{vectors} vectors", f"{vectors} subwords", "left", "right"))
        return CaptionWeights(names, *tensors, **values)

    print("the coefficients", flush=True)
    held_out = examples.part(held_out=True)
    limits = _soundness_of_people(held_out, weights("first"))
    first, final = (weights(name, soundness=limits) for name in ("first", "final"))
    fit = _fitted(examples, held_out, first, final, data if language == "en" else None, recipe)
    for name, value in fit.figures.items():
        print(f"  {name}: {value}")
    about = {
        "language": language,
        "recipe": dataclasses.asdict(recipe),
        "held out": fit.figures,
        "data": checksums(data, language) if captions is None else {},
    }
    if len(final.synonyms):
        about["synonyms"] = read_license()
    if captions is None:
        about["license"] = "Apache-2.0"
    dataclasses.replace(final, bias=fit.bias, coefficients=fit.coefficients, strict=fit.strict, about=about).save(
        output
    )
    print(
        f"{output}: {output.stat().st_size:,} bytes; "
        f"{dict(zip(FEATURES, fit.coefficients.round(3).tolist(), strict=True))}, strict {fit.strict.round(3).tolist()}"
    )


def _trained(
    examples: Examples, words: NDArray[np.int64], recipe: Recipe, kept: Path | None
) -> dict[str, NDArray[np.float32]]:
    """Return the model of junctions and the vectors, first without the held-out images, or read them from a file."""
    if kept is not None and kept.exists():
        with np.load(kept) as file:
            return dict(file)
    print("the model of junctions")
    trained = dict(zip(("left", "right"), train_junctions(examples, words, recipe), strict=True))
    for name, of in (("first", examples.part(held_out=False)), ("final", examples)):
        print("the encoder, " + ("without the images that are held out" if name == "first" else "with all images"))
        trained[f"{name} vectors"], trained[f"{name} subwords"] = train_encoder(of, words, recipe)
    # As they are saved, in 8 bits.
    trained = {name: unpacked(*packed(array)) for name, array in trained.items()}
    if kept is not None:
        np.savez(kept, allow_pickle=False, **trained)
    return trained


@dataclasses.dataclass(frozen=True)
class _Fit:
    """The coefficients of a score, those of the variant strict, and how well captions are ordered, in percent."""

    bias: float
    coefficients: NDArray[np.float64]
    strict: NDArray[np.float64]
    figures: dict[str, Any]


def _fitted(
    examples: Examples,
    held_out: Examples,
    first: CaptionWeights,
    final: CaptionWeights,
    data: Path | None,
    recipe: Recipe,
) -> _Fit:
    """Fit the coefficients; without benchmarks, those of the package are scaled to the ratings, if there are any."""
    figures: dict[str, Any] = {"images held out": len(held_out.images)}
    shipped = CaptionWeights.load() if data is None else final
    if not held_out.rated:
        return _Fit(shipped.bias, shipped.coefficients, shipped.strict, figures)
    features = Concur(weights=first).features
    comparisons = of_held_out(held_out, first, features, recipe)
    coefficients = shipped.coefficients
    if data is not None:
        comparisons |= of_benchmarks(data, Concur(weights=final).features)
        coefficients = fitted([*comparisons.values()], FEATURES, NOT_FITTED)
        figures["right, left out"] = {
            left_out: round(100 * comparisons[left_out].right(fitted(others, FEATURES, NOT_FITTED)), 1)
            for left_out in comparisons
            if (others := [each for name, each in comparisons.items() if name != left_out])
        }
    figures["right"] = {name: round(100 * each.right(coefficients), 1) for name, each in comparisons.items()}
    rated = held_out.balanced().rated
    bias, scale = scaled(coefficients, features(table(examples, rated)), np.array([each.rating for each in rated]))
    coefficients = coefficients * scale / recipe.flatness
    strict = shipped.strict if data is None else _strict(adversarial(held_out, features, recipe), coefficients)
    return _Fit(bias / recipe.flatness, coefficients, strict, figures)


def _strict(comparisons: Sequence[Comparisons], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return coefficients of slips and repetition with which captions score higher than adversarial texts."""
    others = dict(zip(FEATURES, coefficients.tolist(), strict=True))
    found = fitted(comparisons, FEATURES, {name: value for name, value in others.items() if name not in STRICT})
    return found[[FEATURES.index(name) for name in STRICT]]


def _soundness_of_people(examples: Examples, weights: CaptionWeights) -> tuple[float, float]:
    """Return the 5th percentile and the standard deviation of the soundness of one caption of each image."""
    captions = [examples.texts[numbers[0]] for numbers in examples.images.values()]
    people = text_table(captions, [[text] for text in captions])
    found = soundness(people.layer(EncodedLayer(weights, examples.tokenizer))[0], weights)
    return float(np.percentile(found, 5)), float(found.std())


if __name__ == "__main__":
    try:
        main()
    except CaptiousError as error:
        sys.exit(f"error: {error}")
