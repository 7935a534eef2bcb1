"""Trains the variant full of the metric concur: a head on a contextual encoder, and its coefficients.

    python training/concur/train_head.py --data ../shared/data --model sentence-transformers/all-MiniLM-L6-v2
    python training/concur/train_head.py --captions captions.json --model MODEL -o mine.safetensors

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
from captious.learned.caption_features import FULL_FEATURES, EncoderHead, probe
from captious.learned.caption_weights import PENALTIES, CaptionWeights
from captious.learned.concur import Concur
from captious.learned.files import bundled, packed, unpacked
from captious.models import Encoder
from captious.models.encoders import PRECISIONS
from coefficients import Comparisons, fitted
from comparisons import of_benchmarks
from examples import Examples, checksums, flickr30k, own_examples
from head import States, train_head
from negatives import make_negatives
from recipe import NOT_FITTED, HeadRecipe


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder with coco/, cxc/, flickr8k/ and multi30k/")
    parser.add_argument("--captions", type=Path, help="English captions of your own, a file of references")
    parser.add_argument("--ratings", type=Path, help="ratings of captions of your own, a file of JSON lines")
    parser.add_argument("--model", required=True, help="the encoder: a name on the Hugging Face hub, or a folder")
    parser.add_argument("--device", default="auto", help="of the encoder")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="of the encoder")
    parser.add_argument("--states", type=Path, help="a file (.npz) that keeps the encoder's states for another run")
    parser.add_argument("--head", type=Path, help="weights whose matrix is kept, and only coefficients are fitted")
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
    output = options.pop("output") or bundled("concur-full")
    name, kept_states, kept_head = options.pop("name"), options.pop("states"), options.pop("head")
    if (data is None) == (captions is None):
        parser.error("give --data or --captions")
    if captions is not None and output == bundled("concur-full"):
        parser.error("give --output, the file of the weights")
    if not output.parent.is_dir():
        parser.error(f"there is no folder {output.parent}")
    if ratings is not None and captions is None:
        parser.error("--ratings are those of --captions")
    shipped = CaptionWeights.load()
    encoder = Encoder(options.pop("model"), options.pop("device"), options.pop("precision"))
    recipe = HeadRecipe(**options)
    if kept_head is not None:
        matrix = EncoderHead.load(kept_head).matrix
    else:
        if captions is None:
            examples = Examples.read(data).balanced()
            examples = examples.without({image for image, _ in flickr30k(data, "en")})
        else:
            examples = own_examples(captions, ratings, "en").balanced()
        print(f"{len(examples.images):,} images, {len(examples.rated):,} rated captions, {len(examples.pairs):,} pairs")
        negatives = make_negatives(examples, shipped.words, shipped.vectors, seed=recipe.seed)
        print(f"hidden states of {len(examples.used()):,} captions and {len(negatives):,} wrong ones")
        states = States.of(encoder, examples, negatives, kept_states)
        print("the head")
        matrix = unpacked(*packed(train_head(states, examples, recipe)))

    package = EncoderHead.load() if captions is not None else None
    bias, coefficients = (
        (0.0, np.zeros(len(FULL_FEATURES))) if package is None else (package.bias, package.coefficients)
    )
    about: dict[str, Any] = {"recipe": dataclasses.asdict(recipe), "precision": encoder.precision, "data": {}}
    head = EncoderHead(
        name or encoder.name, probe(encoder), matrix, shipped.name, bias, coefficients, about, encoder.name
    )
    if data is not None:
        print("the coefficients", flush=True)
        comparisons = of_benchmarks(data, Concur(weights=head, model=encoder).features)
        coefficients, bias = fitted_head([*comparisons.values()], shipped)
        figures = {n: round(100 * each.right(coefficients), 1) for n, each in comparisons.items()}
        print(f"  right: {figures}")
        about |= {"right": figures, "data": checksums(data), "license": "Apache-2.0"}
        head = dataclasses.replace(head, bias=bias, coefficients=coefficients)
    head.save(output)
    print(
        f"{output}: {output.stat().st_size:,} bytes; "
        f"{dict(zip(FULL_FEATURES, head.coefficients.round(3).tolist(), strict=True))}"
    )


def fitted_head(comparisons: Sequence[Comparisons], light: CaptionWeights) -> tuple[NDArray[np.float64], float]:
    """Return coefficients of the variant full, and its bias, on the scale of ``light``: copies have equal scores."""
    coefficients = fitted(comparisons, FULL_FEATURES, NOT_FITTED)
    rewards = np.array([name not in PENALTIES for name in FULL_FEATURES])
    coefficients *= light.coefficients[rewards[1:]].sum() / coefficients[rewards].sum()
    return coefficients, light.bias


if __name__ == "__main__":
    try:
        main()
    except CaptiousError as error:
        sys.exit(f"error: {error}")
