"""The comparisons that coefficients are fitted to: of people, and of captions with wrong and with adversarial ones.

Those of benchmarks are of half of their images. Those of held-out images are Crisscrossed Captions, and captions made
wrong: one against another caption of its image, judged by the others or by the caption that it was made from.
Adversarial texts are made from references: all of them joined, their keywords, and a caption followed by their
keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.learned.caption_weights import CaptionWeights
from captious.text import PTB
from captious.text.stop_words import NLTK_STOP_WORDS
from coefficients import Comparisons, pair_table, table, text_table
from examples import Examples
from judged import BENCHMARKS, half
from negatives import make_negatives
from recipe import WEIGHTS, Recipe

__all__ = ["adversarial", "adversarial_texts", "of_benchmarks", "of_held_out"]

_IMAGES = 6_000  # at most, of which captions are made wrong
_ADVERSARIAL = 2_000
Features = Callable[[Captions], NDArray[np.float64]]


def of_benchmarks(data: Path, features: Features, *, of_tests: bool = False) -> dict[str, Comparisons]:
    """Return the comparisons of each benchmark on half of its images."""
    found = {}
    for name in BENCHMARKS:
        judgments = half(name, data, of_tests=of_tests)
        found[name] = Comparisons.of_judgments(judgments, features(judgments.captions), WEIGHTS[name])
    return found


def of_held_out(
    examples: Examples, weights: CaptionWeights, features: Features, recipe: Recipe
) -> dict[str, Comparisons]:
    """Return the comparisons of images that the features have not seen: rated captions and pairs, and wrong captions.

    There are wrong captions for English only, for which the package has a parser.
    """
    found = {}
    if examples.rated:
        balanced = examples.balanced()
        ratings = np.array([each.rating for each in balanced.rated])
        found["captions"] = Comparisons.of_ratings(
            features(table(examples, balanced.rated)), ratings, WEIGHTS["captions"], seed=recipe.seed
        )
    if not examples.pairs:
        return found
    ratings = np.array([each.rating for each in examples.pairs])
    found["pairs"] = Comparisons.of_ratings(
        features(pair_table(examples, examples.pairs)), ratings, WEIGHTS["pairs"], seed=recipe.seed
    )
    images = [(image, captions) for image, captions in examples.images.items() if len(captions) >= 4]
    some = replace(examples, images=dict(images[:_IMAGES]))
    right, wrong, references = [], [], []
    for image, negative in make_negatives(some, weights.words, weights.vectors, seed=recipe.seed).items():
        others = [examples.texts[i] for i in some.images[image].tolist() if i != negative.caption]
        right += [examples.texts[negative.caption], others[0]]
        wrong += [" ".join(negative.words)] * 2
        references += [others, [examples.texts[negative.caption]]]
    differences = features(text_table(right, references)) - features(text_table(wrong, references))
    for name, start in (("wrong captions", 0), ("wrong copies", 1)):
        found[name] = Comparisons.of_differences(differences[start::2], WEIGHTS[name])
    return found


def adversarial(examples: Examples, features: Features, recipe: Recipe) -> list[Comparisons]:
    """Return comparisons of captions with adversarial texts, both judged by four other captions."""
    groups = [captions for captions in examples.images.values() if len(captions) >= 5][:_ADVERSARIAL]
    texts = [[examples.texts[i] for i in captions.tolist()] for captions in groups]
    references = [own[:4] for own in texts]
    right = features(text_table([own[4] for own in texts], references))
    return [
        Comparisons.of_differences(right - features(text_table(wrong, references)), 1.0)
        for _, wrong in adversarial_texts([own[4] for own in texts], references, recipe.seed)
    ]


def adversarial_texts(
    captions: Sequence[str], references: Sequence[Sequence[str]], seed: int
) -> Iterator[tuple[str, list[str]]]:
    """Yield texts that must score lower than these captions, by what they are."""
    random = np.random.default_rng(seed)
    keywords = []
    for own in references:
        words = dict.fromkeys(word for text in own for word in PTB(text) if word not in NLTK_STOP_WORDS.words)
        keywords.append(" ".join(random.permutation([*words]).tolist()))
    yield "references joined", [" and ".join(text.strip().rstrip(" .") for text in own) for own in references]
    yield "keywords", keywords
    yield (
        "caption and keywords",
        [f"{text.strip().rstrip(' .')} {own}" for text, own in zip(captions, keywords, strict=True)],
    )
