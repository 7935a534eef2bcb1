"""Recipes of critiques: the network, its vocabulary, the negative examples and the optimizer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from captious.learned.recipe_files import AnyRecipe, choice, number, read_recipe, several, whole

#: Combinations of context and candidate: side by side, by compact bilinear pooling (Gao et al. 2016), or side by side
#: with a hidden layer.
COMBINATIONS = ("concat", "bilinear", "mlp")
#: Roles of the image: not seen, a part of the context next to the reference, or the whole context.
IMAGES = ("none", "context", "only")
#: Kinds of negative examples, all equally likely: captions of systems, corrupted human captions, and further captions
#: from files, such as Monte Carlo samples.
NEGATIVES = ("generated", "pathological", "sampled")
#: Corruptions of human captions: the caption of another image, random words, words in another order.
PATHOLOGIES = ("random-caption", "random-words", "word-permutation")
#: Encoding of a caption that is too long for the network: zeros (the official code), or its first words.
_CUT = ("zeros", "first-words")
_HELP = 'write {"base": "leic", "name": "mine", "units": 128}, with any fields of the recipe'


@dataclass(frozen=True)
class CritiqueRecipe(AnyRecipe):
    """A training recipe of a critique.

    Args:
        name: name of the recipe.
        combination: one of ``COMBINATIONS``.
        images: one of ``IMAGES``; without image features it becomes "none".
        most_words: size of the vocabulary: the most frequent words of the human captions.
        least_count: minimum frequency of a word in the vocabulary.
        length: maximum number of words of a caption.
        cut: captions that are too long for an end mark are "zeros" or "first-words".
        width: length of word vectors; replaced by that of pretrained ones.
        units: width of each layer of the LSTM, and of the image.
        layers: layers of the LSTM (``num_layers`` of the official code); each reads the outputs of the one below.
        hidden: width of the hidden layer of "mlp".
        pooled: width of bilinear pooling.
        dropout: dropout rate of the word vectors, the LSTM's outputs and the hidden layer.
        negatives: some of ``NEGATIVES``; those that are not available are left out.
        pathologies: some of ``PATHOLOGIES``.
        images_per_batch: images per step; each gives one human and one negative example.
        epochs: passes over the images.
        learning_rate: learning rate of Adam in the first epoch.
        decay: factor of the learning rate from one epoch to the next.
        clip: maximum norm of all gradients together; 0 for no limit.
        seed: random seed.

    Raises:
        ParameterError: an invalid value.
    """

    combination: str = choice(COMBINATIONS, "mlp")
    images: str = choice(IMAGES, "context")
    most_words: int = whole(1, 1_000_000, 10_000)
    least_count: int = whole(1, 1_000_000, 1)
    length: int = whole(1, 1_000, 15)
    cut: str = choice(_CUT, "zeros")
    width: int = whole(1, 4_096, 300)
    units: int = whole(1, 8_192, 512)
    layers: int = whole(1, 16, 1)
    hidden: int = whole(1, 8_192, 512)
    pooled: int = whole(2, 1 << 20, 8_192)
    dropout: float = number(0, 0.99, 0.5)
    negatives: tuple[str, ...] = several(NEGATIVES, NEGATIVES)
    pathologies: tuple[str, ...] = several(PATHOLOGIES, PATHOLOGIES)
    images_per_batch: int = whole(1, 1 << 20, 50)
    epochs: int = whole(1, 100_000, 30)
    learning_rate: float = number(1e-12, 1e3, 1e-3)
    decay: float = number(1e-6, 1, 0.9)
    clip: float = number(0, 1e9, 1.0)
    seed: int = whole(0, (1 << 63) - 1, 123)


_OFFICIAL = CritiqueRecipe("leic")
#: The built-in recipes: the official code's, what differs from it in the paper, and the code's for Flickr8k.
CRITIQUE_RECIPES: Mapping[str, CritiqueRecipe] = {
    "leic": _OFFICIAL,
    "leic-paper": replace(_OFFICIAL, name="leic-paper", least_count=5, cut="first-words", clip=0, epochs=10),
    "leic-flickr8k": replace(
        _OFFICIAL,
        name="leic-flickr8k",
        most_words=3_437,
        negatives=("pathological",),
        pathologies=("random-caption",),
        epochs=100,
        decay=0.98,
    ),
}


def as_critique_recipe(what: CritiqueRecipe | str | os.PathLike[str]) -> CritiqueRecipe:
    """Return a recipe by its name, or from a JSON or TOML file with a ``base`` and the fields that differ from it.

    Raises:
        UnknownNameError: neither the name of a recipe nor a file.
        ResourceError: a file that holds no recipe.
    """
    if isinstance(what, CritiqueRecipe):
        return what
    return read_recipe(what, tuple(CRITIQUE_RECIPES), CRITIQUE_RECIPES.__getitem__, _HELP)
