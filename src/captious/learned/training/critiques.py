"""Training of LEIC's critiques: negative examples, training with torch, and the two folds of a system."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, read_captions
from captious.errors import ParameterError, option
from captious.learned.files import check_name
from captious.learned.leic import (
    END,
    FIRST_WORD,
    Critique,
    CritiqueRecipe,
    CritiqueWeights,
    critique_scores,
    drawn_references,
    encoded,
    ends,
    lstms,
    shapes,
    sketches,
    vocabulary_of,
)
from captious.learned.training.networks import check_torch
from captious.models import WordVectors
from captious.models.image_features import ImageFeatures
from captious.models.pretrained import torch_threads
from captious.progress import Progress, steps
from captious.words import counted, counted_of

# Negative examples of a critique: corrupted human captions, as numbers of words, and captions of systems.
#
# These follow section 3.3 of the paper, and the official code where the paper leaves details open.


def replace_random_words(numbers: NDArray[np.int32], n_words: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Replace some words of a caption by random words, two or more if it has as many.

    Args:
        numbers: int32[length].
        n_words: size of the vocabulary.
        rng: random generator.
    """
    corrupted = numbers.copy()
    places = _places(numbers, rng)
    corrupted[places] = rng.integers(FIRST_WORD, n_words + FIRST_WORD, len(places))
    return corrupted


def permuted(numbers: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
    """Permute some words of a caption; after a second draw, it may still be unchanged (official code)."""
    corrupted = numbers.copy()
    places = _places(numbers, rng)
    for _ in range(2):
        corrupted[places] = numbers[rng.permutation(places)]
        if (corrupted != numbers).any():
            break
    return corrupted


def _places(numbers: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw positions of words to change: a random number of those before the end mark, or before the last position."""
    is_end = numbers == END
    size = int(is_end.argmax()) if is_end.any() else len(numbers) - 1
    n = int(rng.integers(min(2, size - 1), size)) if size > 1 else size
    return rng.permutation(size)[:n]


def captions_by_image(files: Sequence[str | os.PathLike[str]], references: References) -> dict[ImageId, list[str]]:
    """Return the captions of systems by image; systems may cover only some of the images."""
    by_image: dict[ImageId, list[str]] = {}
    for file in files:
        captions = read_captions(file, references, match="common")
        for image, caption in zip(captions.ids, captions.candidates, strict=True):
            by_image.setdefault(image, []).append(caption)
    return by_image


# Training of a critique with torch; the result is a numpy network.

_SPREAD = 0.05  # standard deviation of vectors of words that no word vectors are given for


@dataclass(frozen=True)
class Course:
    """The course of training.

    Args:
        losses: mean cross-entropy of each epoch.
        accuracies: share of training examples classified correctly in each epoch, 0 to 1.
        interrupted: whether Ctrl-C ended the training.
    """

    losses: tuple[float, ...]
    accuracies: tuple[float, ...]
    interrupted: bool


@dataclass(frozen=True, eq=False)
class _Texts:
    """Captions of images as numbers: int32[n_captions, length], and int64[n_images + 1]."""

    numbers: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, captions: Sequence[Sequence[str]], numbers: Mapping[str, int], length: int) -> _Texts:
        texts = [text for texts_of_image in captions for text in texts_of_image]
        return cls(encoded(texts, numbers, length), np.cumsum([0, *map(len, captions)]))

    def sample(self, image: int, n: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Sample distinct captions of an image."""
        start, stop = self.offsets[image : image + 2].tolist()
        captions: NDArray[np.int32] = self.numbers[start + rng.permutation(stop - start)[:n]]
        return captions

    def has(self, image: int) -> bool:
        return bool(self.offsets[image] < self.offsets[image + 1])


def train_critique(
    references: References,
    recipe: CritiqueRecipe,
    *,
    generated: Mapping[ImageId, Sequence[str]] | None = None,
    sampled: Mapping[ImageId, Sequence[str]] | None = None,
    images: ImageFeatures | None = None,
    vectors: WordVectors | None = None,
    name: str = "own",
    watch: Callable[[CritiqueWeights], None] | None = None,
) -> tuple[CritiqueWeights, Course]:
    """Train a critique to tell human captions from negative examples.

    A step takes some images. For each it draws two references, a context and a human candidate, and a negative example.
    Ctrl-C ends the training and keeps the network of the last complete epoch.

    Args:
        references: human captions, two or more for each image.
        recipe: the training recipe. Without image features it is trained without images; kinds of negative examples
            that are not available are left out.
        generated: captions of systems, by image; an image may have none, and gets corrupted captions instead.
        sampled: further captions of systems as negative examples, such as a Monte Carlo sample. In Python, by image;
            some images may be missing.
        images: image features, from ``captious learn image-features``. By default, images are not used.
        vectors: initial word vectors. By default, random numbers.
        name: name of the weights in signatures.
        watch: called with the critique after each epoch.

    Raises:
        MissingExtraError: torch is not installed.
        ParameterError: an image with one reference or without features, fewer than two images, captions of systems for
            other images alone, or no kind of negative examples that is available.
    """
    check_torch()
    check_references(references)
    check_name(name)
    recipe = _fitted(recipe, images, vectors, bool(generated), bool(sampled))
    if len(references) < 2:
        raise ParameterError("one image is not enough to train a critique", hint="give at least two")
    words = vocabulary_of(references.texts, recipe.most_words, recipe.least_count)
    if not words:
        raise ParameterError(
            f"no word occurs {recipe.least_count:,} times", where=references.name, hint="decrease least_count"
        )
    machine = {"generated": generated or {}, "sampled": sampled or {}}
    training = _Training(recipe, references, words, machine, images, vectors)
    about: dict[str, Any] = {
        "images": len(references),
        "captions": len(references.texts),
        "image_features": "" if images is None else images.label,
        "vectors": "" if vectors is None else vectors.label,
    }
    image_model = "" if images is None or training.features is None else images.model

    def weights() -> CritiqueWeights:
        return CritiqueWeights(name, words, Critique(recipe, training.arrays), image_model, about)

    course = training.run(lambda: None if watch is None else watch(weights()))
    about |= {"losses": list(course.losses), "accuracies": list(course.accuracies)}
    return weights(), course


def check_references(references: References) -> None:
    """Check that no image has a single reference.

    Raises:
        ParameterError: some do.
    """
    if (lone := np.flatnonzero(np.diff(references.offsets) < 2)).size:
        raise ParameterError(
            f"{counted_of(lone.size, len(references), 'image', 'have')} a single reference",
            where=f"{references.name}: image_id {references.ids[int(lone[0])]!r}",
            hint="a critique reads a human caption together with another one: give two or more per image",
        )


def _fitted(
    recipe: CritiqueRecipe, images: ImageFeatures | None, vectors: WordVectors | None, generated: bool, sampled: bool
) -> CritiqueRecipe:
    """Return the recipe reduced to the available data."""
    if images is None and recipe.images == "only":
        raise ParameterError("a critique of images alone needs image features", hint=f"give {option('images', 'FILE')}")
    if images is None and recipe.near < 1:
        raise ParameterError("captions of near images need image features", hint=f"give {option('images', 'FILE')}")
    if images is not None and recipe.images == "none" and recipe.near == 1:
        raise ParameterError("image features are given, but the recipe sees no images", hint="remove one of the two")
    for kind, is_given in (("generated", generated), ("sampled", sampled)):
        if is_given and kind not in recipe.negatives:
            raise ParameterError(
                f"{kind} captions are given, but are not among the negatives of the recipe",
                hint=f"add {kind} to its negatives, or remove these captions",
            )
    here = {"generated": generated, "sampled": sampled, "pathological": True}
    negatives = tuple(kind for kind in recipe.negatives if here[kind])
    if not negatives:
        raise ParameterError(
            f"there are no negative examples: the recipe takes {', '.join(recipe.negatives)}",
            hint="give captions of a system, or add pathological negatives to the recipe",
        )
    return replace(
        recipe,
        negatives=negatives,
        images="none" if images is None else recipe.images,
        width=recipe.width if vectors is None else vectors.width,
    )


class _Training:
    """A training of a critique: examples, drawn again for each epoch, and ``arrays``, the network of the last one."""

    def __init__(
        self,
        recipe: CritiqueRecipe,
        references: References,
        words: tuple[str, ...],
        machine: Mapping[str, Mapping[ImageId, Sequence[str]]],
        images: ImageFeatures | None,
        vectors: WordVectors | None,
    ) -> None:
        self.recipe, self.words, self.rng = recipe, words, np.random.default_rng(recipe.seed)
        self.features: NDArray[np.float32] | None = None
        if images is not None and recipe.images != "none":
            self.features = images.vectors_of(references.images)
        self.arrays = self._initial(vectors)
        self._near: NDArray[np.int32] | None = None
        if images is not None and recipe.near < 1:
            self._near = images.nearest(references.images, max(1, round(recipe.near * (len(references) - 1))))
        numbers = {word: number for number, word in enumerate(words, FIRST_WORD)}
        people = [references.texts[a:b] for a, b in pairwise(references.offsets.tolist())]
        self._human = _Texts.of(people, numbers, recipe.length)
        self._machine = {
            kind: _Texts.of(_captions_by_image(references, captions, kind), numbers, recipe.length)
            for kind, captions in machine.items()
            if kind in recipe.negatives
        }
        self.n_images = len(references)
        self.per_epoch = math.ceil(self.n_images / recipe.images_per_batch)

    def epoch(self) -> Any:
        """Yield context, human and negative caption of images, int32[b, length] each, and features of the images."""
        size = self.recipe.images_per_batch
        order = np.resize(self.rng.permutation(self.n_images), self.per_epoch * size)
        for images in order.reshape(-1, size):
            pairs = np.stack([self._human.sample(image, 2, self.rng) for image in images.tolist()])
            negatives = np.stack([self._negative(image) for image in images.tolist()])
            yield pairs[:, 0], pairs[:, 1], negatives, None if self.features is None else self.features[images]

    def _negative(self, image: int) -> NDArray[np.int32]:
        rng = self.rng
        kinds = [k for k in self.recipe.negatives if k == "pathological" or self._machine[k].has(image)]
        kind = kinds[int(rng.integers(len(kinds)))] if kinds else ""
        if kind in self._machine:
            return np.asarray(self._machine[kind].sample(image, 1, rng)[0])
        # An image without captions of systems gets a corrupted one, whatever the recipe.
        how = self.recipe.pathologies[int(rng.integers(len(self.recipe.pathologies)))]
        if how == "random-caption":
            return np.asarray(self._human.sample(self._other_image(image), 1, rng)[0])
        caption = np.asarray(self._human.sample(image, 1, rng)[0])
        return replace_random_words(caption, len(self.words), rng) if how == "random-words" else permuted(caption, rng)

    def _other_image(self, image: int) -> int:
        """Draw another image: one of the near ones, if there are such."""
        if self._near is not None:
            return int(self._near[image, int(self.rng.integers(self._near.shape[1]))])
        draw = int(self.rng.integers(self.n_images - 1))
        return draw + (draw >= image)

    def _initial(self, vectors: WordVectors | None) -> dict[str, NDArray[np.float32]]:
        """Return initial arrays: Glorot's uniform weights, with the LSTM as one matrix; biases 0, but 1 for the forget
        gate.
        """
        recipe, arrays = self.recipe, {}
        layers = shapes(recipe, len(self.words), 0 if self.features is None else self.features.shape[1])
        for name, shape in layers.items():
            if name == "embedding":
                arrays[name] = self.rng.normal(0, _SPREAD, shape)
            elif len(shape) == 1:
                arrays[name] = np.zeros(shape)
            else:
                lstm = name.partition(".")[0]
                n_in = layers[f"{lstm}.input"][1] + recipe.units if lstm in lstms(recipe) else shape[1]
                bound = math.sqrt(6 / (n_in + shape[0]))
                arrays[name] = self.rng.uniform(-bound, bound, shape)
        for lstm in lstms(recipe):
            arrays[f"{lstm}.bias"][recipe.units : 2 * recipe.units] = 1
        if vectors is not None:
            (has_unk,), unk = vectors.look_up(["unk"])
            has_vector, rows = vectors.look_up(self.words)
            rows = np.where(has_vector[:, None], rows, unk if has_unk else arrays["embedding"][FIRST_WORD:])
            arrays["embedding"][FIRST_WORD:] = rows
        return {name: array.astype(np.float32) for name, array in arrays.items()}

    def run(self, watch: Callable[[], None]) -> Course:
        """Train, and call ``watch`` after each epoch; Ctrl-C keeps the network of the last complete one."""
        import torch

        recipe = self.recipe
        torch.manual_seed(recipe.seed)
        tensors = {name: torch.from_numpy(array.copy()).requires_grad_() for name, array in self.arrays.items()}
        network = _Network(recipe, tensors)
        optimizer = torch.optim.Adam(tensors.values(), lr=recipe.learning_rate)
        losses: list[float] = []
        accuracies: list[float] = []
        interrupted = False
        target = torch.arange(2).repeat_interleave(recipe.images_per_batch)  # the human captions first
        with torch_threads(), Progress(recipe.epochs * self.per_epoch) as progress:
            progress.step("training")
            try:
                for epoch in range(recipe.epochs):
                    for group in optimizer.param_groups:
                        group["lr"] = recipe.learning_rate * recipe.decay**epoch
                    total = correct = n = 0.0
                    for number, (context, human, negative, features) in enumerate(self.epoch()):
                        vectors = None if features is None else torch.from_numpy(features)
                        logits = network.of_batch(context, human, negative, vectors)
                        loss = torch.nn.functional.cross_entropy(logits, target)
                        optimizer.zero_grad()
                        loss.backward()
                        if recipe.clip:
                            torch.nn.utils.clip_grad_norm_(tensors.values(), recipe.clip)
                        optimizer.step()
                        n += len(target)
                        total += float(loss.detach()) * len(target)
                        correct += int((logits.argmax(1) == target).sum())
                        done = epoch * self.per_epoch + number + 1
                        progress.reach(done, f"epoch {epoch + 1}: loss {total / n:.3f}, accuracy {correct / n:.1%}")
                    losses.append(total / n)
                    accuracies.append(correct / n)
                    self.arrays = {name: tensor.detach().numpy().copy() for name, tensor in tensors.items()}
                    watch()
            except KeyboardInterrupt:
                if not losses:
                    raise
                interrupted = True
        return Course(tuple(losses), tuple(accuracies), interrupted)


def _captions_by_image(
    references: References, captions: Mapping[ImageId, Sequence[str]], kind: str
) -> list[Sequence[str]]:
    """Return the captions of each image. Ids are compared as text, as one side may write numbers as text."""
    by_text = {str(image): texts for image, texts in captions.items()}
    of_images = [by_text.get(str(image), ()) for image in references.ids]
    if not any(of_images):
        raise ParameterError(
            f"the {kind} captions are of other images than the references",
            where=references.name,
            hint="give captions of images that have references",
        )
    return of_images


class _Network(Critique):
    """The network in torch, for batches of three captions of each image."""

    def __init__(self, recipe: CritiqueRecipe, tensors: Mapping[str, Any]) -> None:
        import torch

        self.recipe, self.arrays = recipe, {**tensors}
        no_bias = torch.zeros_like(tensors["lstm.bias"])
        self._lstm = [
            array
            for name in lstms(recipe)
            for array in (*(tensors[f"{name}.{part}"] for part in ("input", "state", "bias")), no_bias)
        ]
        if recipe.combination == "bilinear":
            self._torch_sketches = [tuple(map(torch.from_numpy, each)) for each in sketches(recipe)]

    def of_batch(
        self, context: NDArray[np.int32], human: NDArray[np.int32], negative: NDArray[np.int32], images: Any
    ) -> Any:
        """Return float32[2 b, 2], human captions first."""
        import torch

        is_alone = self.recipe.images == "only"
        read = [human, negative] if is_alone else [context, human, negative]
        sentences = self._sentences(np.concatenate(read)).split(len(context))
        states = self.context(None if is_alone else sentences[0], images)
        return torch.cat([self.logits(states, candidates) for candidates in sentences[-2:]])

    def joined(self, parts: list[Any]) -> Any:
        import torch

        return torch.cat(parts, 1)

    def rectified(self, values: Any) -> Any:
        return self._dropped(values.relu())

    def pooled(self, context: Any, candidates: Any) -> Any:
        import torch

        sketched = []
        for values, (to, signs) in zip((context, candidates), self._torch_sketches, strict=True):
            empty = torch.zeros(len(values), self.recipe.pooled)
            sketched.append(torch.fft.rfft(empty.index_add(1, to, values * signs)))
        return torch.fft.irfft(sketched[0] * sketched[1], self.recipe.pooled)

    def _sentences(self, numbers: NDArray[np.int32]) -> Any:
        import torch

        last = torch.from_numpy(ends(numbers, self.recipe.cut))
        steps = int(last.max()) + 1
        if steps < 1:
            return torch.zeros(len(numbers), self.recipe.units)
        ids = torch.from_numpy(numbers[:, :steps]).long()
        embedded = self._dropped(torch.nn.functional.embedding(ids, self.arrays["embedding"]))
        layers, dropout = self.recipe.layers, self.recipe.dropout
        zeros = torch.zeros(layers, len(ids), self.recipe.units)
        outputs = torch.lstm(embedded, (zeros, zeros), self._lstm, True, layers, dropout, True, False, True)[0]
        at = outputs[torch.arange(len(ids)), last.clamp(min=0)] * (last >= 0)[:, None]
        return self._dropped(at)

    def _dropped(self, values: Any) -> Any:
        import torch

        return torch.nn.functional.dropout(values, self.recipe.dropout)


# LEIC's protocol for a system: a critique is trained on one half of its captions, and scores the other half.


@dataclass(frozen=True, eq=False)
class TwoFolds:
    """Scores of a system by critiques that have not seen its images.

    Args:
        system: the probability that a person wrote each caption of the system, float64[n].
        human: the same for one human caption of each image, read with another one, float64[n].
        others: the same for other captions of the images, by name, float64[n].
        folds: the fold of each image, 0 or 1, int64[n].
        critiques: the critiques of both folds, whose scores are averaged; the first are trained on fold 1 and score
            fold 0.
        courses: the courses of the trainings of both folds.
        trainings: mean score of the system by each training, float64[n_trainings].
    """

    system: NDArray[np.float64]
    human: NDArray[np.float64]
    others: Mapping[str, NDArray[np.float64]]
    folds: NDArray[np.int64]
    critiques: tuple[Sequence[CritiqueWeights], Sequence[CritiqueWeights]]
    courses: tuple[Sequence[Course], Sequence[Course]]
    trainings: NDArray[np.float64]


def two_folds(
    captions: Captions,
    recipe: CritiqueRecipe,
    *,
    sampled: Mapping[ImageId, Sequence[str]] | None = None,
    images: ImageFeatures | None = None,
    vectors: WordVectors | None = None,
    all_references: bool = False,
    trainings: int = 1,
    last_epochs: int = 1,
    others: Mapping[str, Captions] = MappingProxyType({}),
) -> TwoFolds:
    """Train on each half of the images of a system, and score the other.

    Args:
        captions: the system's captions and the references, two or more for each image.
        recipe: the training recipe; its seed also draws the halves.
        sampled, images, vectors: as for ``train_critique``.
        all_references: average over all references of an image as contexts, as in the paper, instead of using a random
            one, as in the official code.
        trainings: average over this many trainings, whose seeds follow that of the recipe (section 3.5 of the paper).
        last_epochs: average over this many last epochs of each training; 10 in the README of the official code.
        others: other captions of the images to score, by name.

    Raises:
        MissingExtraError, ParameterError: as ``train_critique``; fewer than four images; no trainings, or not as many
            epochs.
    """
    if trainings < 1 or not 1 <= last_epochs <= recipe.epochs:
        raise ParameterError(
            f"scores cannot be averaged over {counted(trainings, 'training')} and {counted(last_epochs, 'epoch')}",
            where=f"recipe {recipe.name}: {counted(recipe.epochs, 'epoch')}",
            hint="give one or more of both, and no more epochs than the recipe has",
        )
    n = len(captions)
    if n < 4:
        raise ParameterError(
            f"{counted(n, 'image', 'are')} too few for two folds", hint="give at least four; thousands are usual"
        )
    check_references(captions.references)
    folds = np.zeros(n, np.int64)
    folds[np.random.default_rng(recipe.seed).permutation(n)[: n // 2]] = 1
    judged = (captions, _people(captions.references, recipe.seed), *others.values())
    seed = None if all_references else recipe.seed
    critiques: tuple[list[CritiqueWeights], list[CritiqueWeights]] = ([], [])
    courses: tuple[list[Course], list[Course]] = ([], [])
    scores = np.zeros((trainings, len(judged), n))
    rounds = [(number, fold) for number in range(trainings) for fold in (0, 1)]
    with steps(rounds, lambda step: f"training {step[0] + 1} of {trainings}, fold {step[1] + 1} of 2") as trained:
        for number, fold in trained:
            training = captions.select(folds != fold)
            generated = {image: [text] for image, text in zip(training.ids, training.candidates, strict=True)}
            last: deque[CritiqueWeights] = deque(maxlen=last_epochs)
            _, course = train_critique(
                training.references,
                replace(recipe, seed=recipe.seed + number),
                generated=generated,
                sampled=sampled,
                images=images,
                vectors=vectors,
                watch=last.append,
            )
            for row, table in enumerate(judged):
                of_fold = table.select(folds == fold)
                of_epochs = [critique_scores(critique, of_fold, images, seed=seed) for critique in last]
                scores[number, row, folds == fold] = np.mean(of_epochs, axis=0)
            critiques[fold].extend(last)
            courses[fold].append(course)
    system, human, *more = scores.mean(axis=0)
    of_others = dict(zip(others, more, strict=True))
    return TwoFolds(system, human, of_others, folds, critiques, courses, scores[:, 0].mean(axis=1))


def _people(references: References, seed: int) -> Captions:
    """Return one human caption of each image as the candidate, with the other references."""
    empty = Captions(("",) * len(references), references)
    candidate_rows = drawn_references(empty, seed + 1)
    people = tuple(references.texts[row] for row in candidate_rows.tolist())
    return Captions(people, references.leave_out(candidate_rows))
