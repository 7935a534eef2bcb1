"""LEIC: a trained critique that reads a caption together with a reference, the image, or both.

Cui, Yang, Veit, Huang and Belongie 2018, "Learning to evaluate image captioning". The official code is
github.com/richardaecn/cvpr18-caption-eval.
"""

from __future__ import annotations

import json
import os
import re
import string
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, rfft
from scipy.sparse import csr_matrix

from captious.data import Captions
from captious.errors import ParameterError, ResourceError, setting
from captious.files import checksum
from captious.learned.files import (
    BUILT_IN,
    AnyRecipe,
    Arrays,
    WeightsFile,
    check_name,
    choice,
    number,
    several,
    whole,
)
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import IntegerParameter, ResourceParameter
from captious.models.image_features import ImageFeatures
from captious.text.tokenizers import treebank_tokens
from captious.words import counted, shortened

# Recipes of critiques: the network, its vocabulary, the negative examples and the optimizer.

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
        near: share of the other images from which a random caption is drawn, the nearest by image features; 1 for any.
        images_per_batch: images per step; each gives one human and one negative example.
        epochs: passes over the images.
        learning_rate: learning rate of Adam in the first epoch.
        decay: factor of the learning rate from one epoch to the next.
        clip: maximum norm of all gradients together; 0 for no limit.
        seed: random seed.

    Raises:
        ParameterError: an invalid value.
    """

    built_in = BUILT_IN["critiques"]
    help = 'write {"base": "leic", "name": "mine", "units": 128}, with any fields of the recipe'

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
    near: float = number(0, 1, 1.0)
    images_per_batch: int = whole(1, 1 << 20, 50)
    epochs: int = whole(1, 100_000, 30)
    learning_rate: float = number(1e-12, 1e3, 1e-3)
    decay: float = number(1e-6, 1, 0.9)
    clip: float = number(0, 1e9, 1.0)
    seed: int = whole(0, (1 << 63) - 1, 123)


#: The built-in recipes.
CRITIQUE_RECIPES = tuple(CritiqueRecipe.built_in)
#: Returns a recipe by its name or from a file; see ``CritiqueRecipe.of``.
as_critique_recipe = CritiqueRecipe.of


# Captions as input of a critique: lower-case words without punctuation, as numbers of a fixed length.
#
# The official code tokenizes with NLTK, whose sentence splitter needs a download; here, sentences end at ``.``, ``!``
# or ``?`` before white space.

#: Numbers before those of the words. One more is the start mark of caption generators, which a critique never sees.
PAD, UNKNOWN, END, FIRST_WORD = 0, 1, 3, 4
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def words_of(caption: str) -> list[str]:
    """Return the words of a caption; as in the official code, without tokens that are substrings of
    ``string.punctuation``.
    """
    tokens = (token for part in _SENTENCE_END.split(caption.lower()) for token in treebank_tokens(part))
    return [token for token in tokens if token not in string.punctuation]


def vocabulary_of(captions: Iterable[str], most: int, least_count: int) -> tuple[str, ...]:
    """Return the most frequent words; among equally frequent ones, the later come first, as in the official code."""
    counts = Counter(word for caption in captions for word in words_of(caption))
    order = sorted((word for word, n in counts.items() if n >= least_count), key=counts.__getitem__)
    return tuple(order[::-1][:most])


def encoded(captions: Sequence[str], numbers: Mapping[str, int], length: int) -> NDArray[np.int32]:
    """Return captions as numbers of words, int32[n, length]: words, an end mark if there is room, padding.

    Args:
        captions: n captions.
        numbers: the number of each word of the vocabulary.
        length: maximum number of words.
    """
    rows = np.full((len(captions), length), PAD, np.int32)
    for row, caption in enumerate(captions):
        ids = [numbers.get(word, UNKNOWN) for word in words_of(caption)[:length]]
        rows[row, : len(ids)] = ids
        if len(ids) < length:
            rows[row, len(ids)] = END
    return rows


# The network of a critique in numpy, used for scoring.
#
# An LSTM reads reference and candidate. Each is encoded as the output at the end mark. Context and candidate are
# combined by a linear layer, by a hidden layer with ReLU, or by compact bilinear pooling (Gao et al. 2016); softmax
# over two classes gives the probability that a person wrote the candidate.

_ROWS = 256  # rows per matrix product; another number changes a caption's vector in the last bits of single precision
_SEEDS = (1, 3), (5, 7)  # of the official code: hash and sign of context and candidate


def shapes(recipe: CritiqueRecipe, n_words: int, image_width: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of each array of a network."""
    gates, n_context = 4 * recipe.units, recipe.units * (2 if recipe.images == "context" else 1)
    layers: dict[str, tuple[int, ...]] = {"embedding": (n_words + FIRST_WORD, recipe.width)}
    for layer, name in enumerate(lstms(recipe)):
        width = recipe.units if layer else recipe.width
        layers |= {f"{name}.input": (gates, width), f"{name}.state": (gates, recipe.units), f"{name}.bias": (gates,)}
    if recipe.images != "none":
        layers |= {"image.weight": (recipe.units, image_width), "image.bias": (recipe.units,)}
    joint = recipe.pooled if recipe.combination == "bilinear" else n_context + recipe.units
    if recipe.combination == "mlp":
        layers |= {"hidden.weight": (recipe.hidden, joint), "hidden.bias": (recipe.hidden,)}
        joint = recipe.hidden
    return layers | {"output.weight": (2, joint), "output.bias": (2,)}


def lstms(recipe: CritiqueRecipe) -> list[str]:
    """Return the array prefix of each LSTM layer, the lowest first."""
    return ["lstm", *(f"lstm{number}" for number in range(2, recipe.layers + 1))]


def ends(numbers: NDArray[np.int32], cut: str) -> NDArray[np.int64]:
    """Return the step at which each caption is encoded: its end mark; without one the last step, or -1 if cut is
    "zeros".
    """
    is_end = numbers == END
    return np.where(is_end.any(axis=1), is_end.argmax(axis=1), -1 if cut == "zeros" else numbers.shape[1] - 1)


def sketches(recipe: CritiqueRecipe) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Yield the count sketches of context and candidate in bilinear pooling: position and sign of each number."""
    n_context = recipe.units * (2 if recipe.images == "context" else 1)
    for n_in, (places, signs) in zip((n_context, recipe.units), _SEEDS, strict=True):
        to = np.random.RandomState(places).randint(recipe.pooled, size=n_in).astype(np.int64)
        yield to, (2 * np.random.RandomState(signs).randint(2, size=n_in) - 1).astype(np.float32)


class Critique:
    """A trained network.

    Args:
        recipe: the training recipe, which determines the layers.
        arrays: float32 arrays of the layers, with the names and shapes of ``shapes``. The gates of the LSTM are input,
            forget, new value and output.

    Raises:
        ParameterError: arrays of other names or shapes, or numbers that are not finite.
    """

    def __init__(self, recipe: CritiqueRecipe, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        self.recipe, self.arrays = recipe, dict(arrays)
        n_words = len(arrays.get("embedding", ())) - FIRST_WORD
        image = arrays.get("image.weight", np.empty((0, 0))).shape[-1]
        expected = shapes(recipe, n_words, image)
        if {name: array.shape for name, array in arrays.items()} != expected or n_words < 0:
            raise ParameterError("these arrays are not the network of the recipe", hint="train the critique again")
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise ParameterError("a weight is not finite", hint="train the critique again")

    @property
    def image_width(self) -> int:
        """Number of features of an image; 0 if images are not used."""
        return 0 if self.recipe.images == "none" else int(self.arrays["image.weight"].shape[1])

    def sentences(self, numbers: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return vectors of captions, int32[n, length] to float32[n, units]."""
        last = ends(numbers, self.recipe.cut)
        vectors = np.zeros((len(numbers), self.recipe.units), np.float32)
        order = np.argsort(last, kind="stable")
        for start in range(0, len(order), _ROWS):
            rows = order[start : start + _ROWS]
            vectors[rows] = self._read(_filled(numbers[rows]), _filled(last[rows]))[: len(rows)]
        return vectors

    def humans(
        self,
        candidates: NDArray[np.float32],
        references: NDArray[np.float32] | None,
        images: NDArray[np.float32] | None,
    ) -> NDArray[np.float64]:
        """Return the probability that a person wrote each candidate, float64[n].

        Args:
            candidates: sentence vectors, float32[n, units].
            references: vectors of one reference each; None if references are not used.
            images: features of images, float32[n, image_width]; None if images are not used.
        """
        probabilities = np.empty(len(candidates))
        for start in range(0, len(candidates), _ROWS):
            batch = slice(start, start + _ROWS)
            of_candidates, of_references, of_images = (
                None if array is None else _filled(array[batch]) for array in (candidates, references, images)
            )
            logits = self.logits(self.context(of_references, of_images), of_candidates).astype(np.float64)
            probabilities[batch] = (1 / (1 + np.exp(logits[:, 1] - logits[:, 0])))[: len(candidates[batch])]
        return probabilities

    def _read(self, numbers: NDArray[np.int32], last: NDArray[np.int64]) -> NDArray[np.float32]:
        arrays, units, names = self.arrays, self.recipe.units, lstms(self.recipe)
        outputs = np.zeros((len(numbers), units), np.float32)
        states = {name: (outputs.copy(), outputs.copy()) for name in names}
        for step in range(int(last.max(initial=-1)) + 1):
            read = arrays["embedding"][numbers[:, step]]
            for name in names:
                state, cell = states[name]
                gates = read @ arrays[f"{name}.input"].T
                gates += state @ arrays[f"{name}.state"].T
                gates += arrays[f"{name}.bias"]
                update, keep, new, out = (gates[:, i * units : (i + 1) * units] for i in range(4))
                cell = _sigmoid(keep) * cell + _sigmoid(update) * np.tanh(new)
                read = _sigmoid(out) * np.tanh(cell)
                states[name] = read, cell
            outputs[last == step] = read[last == step]
        return outputs

    # The rest of the network is also that of the training, which computes with torch's arrays.

    def context(self, references: Any, images: Any) -> Any:
        """Return what candidates are compared with, from sentence vectors, features of images, or both."""
        arrays = self.arrays
        parts = [] if images is None else [images @ arrays["image.weight"].T + arrays["image.bias"]]
        return self.joined(parts if references is None else [*parts, references])

    def logits(self, context: Any, candidates: Any) -> Any:
        """Return the input of the softmax, float32[n, 2], for the sentence vectors of candidates."""
        arrays, combination = self.arrays, self.recipe.combination
        joint = self.pooled(context, candidates) if combination == "bilinear" else self.joined([context, candidates])
        if combination == "mlp":
            joint = self.rectified(joint @ arrays["hidden.weight"].T + arrays["hidden.bias"])
        return joint @ arrays["output.weight"].T + arrays["output.bias"]

    def joined(self, parts: list[Any]) -> Any:
        """Return vectors side by side."""
        return np.concatenate(parts, axis=1)

    def rectified(self, values: Any) -> Any:
        """Return the output of the hidden layer."""
        return np.maximum(values, 0)

    def pooled(self, context: Any, candidates: Any) -> Any:
        """Return the compact bilinear pooling of vectors, float32[n, pooled]."""
        first, second = self._sketches
        product = rfft((first @ context.T).T, axis=1) * rfft((second @ candidates.T).T, axis=1)
        return np.asarray(irfft(product, self.recipe.pooled, axis=1), np.float32)

    @cached_property
    def _sketches(self) -> tuple[csr_matrix, csr_matrix]:
        pooled = self.recipe.pooled
        first, second = (
            csr_matrix((signs, (to, np.arange(len(to)))), shape=(pooled, len(to)))
            for to, signs in sketches(self.recipe)
        )
        return first, second


def _filled(rows: NDArray[Any]) -> NDArray[Any]:
    """Pad rows with as many zeros as a matrix product needs."""
    if len(rows) == _ROWS:
        return rows
    return np.concatenate([rows, np.zeros((_ROWS - len(rows), *rows.shape[1:]), rows.dtype)])


def _sigmoid(values: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.float32(0.5) * np.tanh(np.float32(0.5) * values) + np.float32(0.5))


# A trained critique, consisting of a network and its vocabulary, and its safetensors file.


@dataclass(frozen=True, eq=False)
class CritiqueWeights(WeightsFile):
    """A trained critique.

    Args:
        name: name in signatures.
        words: its vocabulary.
        critique: the network.
        image_model: the model that computed the image features of the training data; "" if unknown, or without images.
        about: the training data, and the course of the training.

    Raises:
        ParameterError: a vocabulary that does not match the network.
    """

    help = "give a file that 'captious learn critique' wrote"
    largest = 1 << 30

    name: str
    words: tuple[str, ...]
    critique: Critique
    image_model: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.numbers) != len(self.words) or len(self.words) + FIRST_WORD != len(
            self.critique.arrays["embedding"]
        ):
            raise ParameterError("the vocabulary does not match the network", hint=self.help)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Number of each word."""
        return {word: number for number, word in enumerate(self.words, FIRST_WORD)}

    @cached_property
    def label(self) -> str:
        """The weights in signatures: the name, and a checksum of recipe, vocabulary and network."""
        text = "\n".join([json.dumps(self.critique.recipe.to_dict(), sort_keys=True), *self.words])
        arrays = [self.critique.arrays[name].astype(np.float32) for name in sorted(self.critique.arrays)]
        return f"{self.name}-{checksum(text, *arrays)}"

    @property
    def contents(self) -> str:
        """A short description."""
        recipe = self.critique.recipe
        return (
            f"{recipe.name}, {recipe.combination}, images: {recipe.images}, {counted(len(self.words), 'word')}, "
            f"{self.label}"
        )

    def sentences(self, captions: tuple[str, ...]) -> NDArray[np.float32]:
        """Return vectors of captions, float32[n, units]; equal captions are read once."""
        rows: dict[str, int] = {}
        of_captions = [rows.setdefault(caption, len(rows)) for caption in captions]
        numbers = encoded([*rows], self.numbers, self.critique.recipe.length)
        return self.critique.sentences(numbers)[np.array(of_captions, np.int64)]

    def _to_arrays(self) -> tuple[Arrays, Mapping[str, Any]]:
        config = {
            **{"name": self.name, "recipe": self.critique.recipe.to_dict()},
            **{"image_model": self.image_model, "about": dict(self.about)},
        }
        words = np.frombuffer(json.dumps(self.words).encode(), np.uint8)
        return {**self.critique.arrays, "words": words}, config

    @classmethod
    def _from_arrays(cls, arrays: Arrays, config: Any, _: str) -> CritiqueWeights:
        layers = {**arrays}
        words = tuple(json.loads(layers.pop("words").tobytes()))
        texts = (config["name"], config["image_model"], *words)
        if not all(isinstance(text, str) for text in texts) or not isinstance(config["about"], dict):
            raise ResourceError("the names in the file are damaged")
        check_name(config["name"])
        if not config["image_model"].isprintable():
            raise ResourceError("the names in the file are damaged")
        if any(array.dtype != np.float32 for array in layers.values()):
            raise ResourceError("these are not the layers of a critique")
        critique = Critique(CritiqueRecipe.from_dict(config["recipe"]), layers)
        return cls(config["name"], words, critique, config["image_model"], config["about"])


# Scores of captions by a critique: the choice of the reference to read with a candidate, and the probability.


def critique_scores(
    trained: CritiqueWeights, captions: Captions, images: ImageFeatures | None, *, seed: int | None
) -> NDArray[np.float64]:
    """Return the probability that a person wrote each candidate, float64[n].

    Args:
        trained: the critique.
        captions: candidates with references.
        images: features of their images; None for critiques without images.
        seed: one random reference of each image is the context; None for the mean over all references.

    Raises:
        ParameterError: an image without features.
    """
    critique, references = trained.critique, captions.references
    features = None if critique.recipe.images == "none" or images is None else images.vectors_of(references.images)
    candidates = trained.sentences(captions.candidates)
    if critique.recipe.images == "only":
        return critique.humans(candidates, None, features)
    if seed is not None:
        texts = tuple(references.texts[row] for row in drawn_references(captions, seed).tolist())
        return critique.humans(candidates, trained.sentences(texts), features)
    counts = np.diff(references.offsets)
    rows = np.repeat(np.arange(len(captions)), counts)
    features = None if features is None else features[rows]
    scores = critique.humans(candidates[rows], trained.sentences(references.texts), features)
    return np.asarray(np.add.reduceat(scores, references.offsets[:-1]) / counts) if len(scores) else scores


def drawn_references(captions: Captions, seed: int) -> NDArray[np.int64]:
    """Draw one random reference of each image; returns its row, int64[n].

    It depends only on the seed and the texts, not on the order of images or references.
    """
    references, start = captions.references, zlib.crc32(str(seed).encode())
    keys = [zlib.crc32(text.encode("utf-8", "surrogatepass"), start) for text in references.texts]
    return np.array(
        [min(range(a, b), key=keys.__getitem__) for a, b in pairwise(references.offsets.tolist())], np.int64
    )


# The metric ``leic``.

_HELP = "train one: captious learn critique REFERENCES -o FILE; then leic:weights=FILE"


class Leic(MeanMetric):
    """LEIC, 0 to 1, higher is better: the probability that a person wrote the caption. The corpus score is the mean.

    Raises:
        ParameterError: no weights, no image features for a critique that needs them, or features of another width.
        ResourceError: an unusable file.
    """

    name = "leic"
    summary = "trained critique over a reference and the image: the probability of a human caption"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "the official code: one random reference of each image is read",
        "paper": "the mean over all references of the image",
    }

    without_parameters = frozenset({"tokenizer"})
    weights: ResourceParameter[CritiqueWeights | str | os.PathLike[str] | None, Any] = ResourceParameter(
        default=None,
        needs="weights: a trained critique",
        hint=_HELP,
        summary="a critique: a file that 'captious learn critique' wrote",
    )
    images: ResourceParameter[ImageFeatures | str | os.PathLike[str] | None, Any] = ResourceParameter(
        default=None,
        in_labels=False,
        summary="features of the images: a file of 'captious learn image-features'; for critiques of images",
    )
    seed: IntegerParameter[int | None] = IntegerParameter(
        default=None,
        most=(1 << 32) - 1,
        summary="which reference the critique reads; for the official variant alone, where none is 0",
    )

    def setup(self) -> None:
        if self.seed is not None and self.variant != "official":
            raise ParameterError(f"leic@{self.variant} reads all references", hint="remove seed, or the variant")
        self.trained = _read(CritiqueWeights, self.weights, "weights")
        critique = self.trained.critique
        images, self.features = self.images, None
        self._ignored = critique.recipe.images == "none" and images is not None
        if critique.recipe.images == "none":
            return
        if images is None:
            raise ParameterError(
                f"the critique {self.trained.label} needs the images",
                hint=f"give a file of image features: {setting('images', 'FILE')} "
                "(captious learn image-features DIR -o FILE)",
            )
        self.features = _read(ImageFeatures, images, "images")
        if self.features.width != critique.image_width:
            raise ParameterError(
                f"these image features are {self.features.width:,} numbers each, but the critique takes "
                f"{critique.image_width:,}",
                where=self.features.label,
                hint=f"compute features with the model of its training: {self.trained.image_model or 'unknown'}",
            )

    @property
    def parameters(self) -> Mapping[str, object]:
        values: dict[str, object] = {"variant": self.variant, "weights": self.trained.label}
        if self.features is not None:
            values["images"] = self.features.label
        if self.variant == "official" and self.trained.critique.recipe.images != "only":
            values["seed"] = self.seed or 0
        return values

    @property
    def tokens(self) -> str:
        return "treebank"

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        seed = (self.seed or 0) if self.variant == "official" else None
        return critique_scores(self.trained, captions, self.features, seed=seed)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        messages = [*super().warnings(captions, state)]
        if self._ignored:
            messages.append(f"the critique {self.trained.label} sees no images: the given ones are not used.")
        trained_with = self.trained.image_model
        if self.features is not None and trained_with and self.features.model != trained_with:
            messages.append(
                f"the critique was trained with image features of {trained_with}, but these are of "
                f"{self.features.model or 'an unknown model'}."
            )
        return messages


def _read(kind: Any, value: object, name: str) -> Any:
    """Return weights or image features, read if they are a file."""
    if isinstance(value, kind):
        return value
    if not isinstance(value, str | os.PathLike):
        problem = f"{shortened(value)} cannot be used as {name} of leic"
        raise ParameterError(problem, hint="give a file, or what was read from it")
    return kind.load(value)
