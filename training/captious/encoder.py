"""Trains the vectors of words: a caption is the normalized sum of those of its words.

Captions of one image must find each other among those of a batch of images, and captions that people rate as closer
must have the larger cosine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from examples import Examples
from recipe import Recipe

__all__ = ["frequent_words", "out_of_order", "train_encoder"]

_RATINGS = 512  # rated captions, and pairs, in a batch
_APART = 0.25  # ratings that differ by less are taken for equal
_SLOPE = 10.0  # of the loss of ratings, in cosines


def frequent_words(examples: Examples, recipe: Recipe) -> NDArray[np.int64]:
    """Ids of the most frequent words of captions of images, the most frequent first."""
    counts = _word_counts(examples)
    ranked = np.argsort(-counts, kind="stable")[: recipe.words]
    return ranked[counts[ranked] > 1]


def train_encoder(examples: Examples, words: NDArray[np.int64], recipe: Recipe) -> NDArray[np.float32]:
    """Vectors of words, weighted, float32[n_words, width]."""
    torch.manual_seed(recipe.seed)
    random = np.random.default_rng(recipe.seed)
    model = _Encoder(examples, words, recipe)
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / 100) * max(0.02, 1 - step / recipe.steps)
    )
    images = list(examples.images.values())
    rated = torch.tensor([each.rating for each in examples.rated])
    paired = torch.tensor([each.rating for each in examples.pairs])
    for step in range(recipe.steps):
        mask = (torch.rand(recipe.width) > recipe.masked).float()
        drawn = [images[i] for i in random.choice(len(images), recipe.batch, replace=False)]
        two = np.array([captions[random.permutation(len(captions))[:2]] for captions in drawn])
        first, second = model(two.T.ravel(), mask).chunk(2)
        cosines = first @ second.T * model.sharpness.exp()
        same = torch.arange(recipe.batch)
        loss = (functional.cross_entropy(cosines, same) + functional.cross_entropy(cosines.T, same)) / 2

        drawn_ratings = random.choice(len(rated), _RATINGS, replace=False)
        loss = loss + out_of_order(model.fit_of([examples.rated[i] for i in drawn_ratings], mask), rated[drawn_ratings])
        drawn_pairs = random.choice(len(paired), _RATINGS, replace=False)
        captions = np.array([examples.pairs[i].captions for i in drawn_pairs])
        first, second = model(captions.T.ravel(), mask).chunk(2)
        loss = loss + out_of_order((first * second).sum(1), paired[drawn_pairs])

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 250 == 0 or step == recipe.steps - 1:
            print(f"  step {step:,}: loss {loss.item():.3f}", flush=True)
    with torch.no_grad():
        return (model.vectors * model.weights.exp()[:, None])[1:].numpy()


class _Encoder(torch.nn.Module):
    """Vectors and weights of words; row 0 stands for words that are not among them."""

    def __init__(self, examples: Examples, words: NDArray[np.int64], recipe: Recipe) -> None:
        super().__init__()
        counts = _word_counts(examples)
        rarity = 0.5 * np.log(counts.sum() / np.maximum(counts[words], 1)) / 8
        self.vectors = torch.nn.Parameter(torch.randn(len(words) + 1, recipe.width) * 0.1)
        self.weights = torch.nn.Parameter(torch.tensor([0.0, *rarity], dtype=torch.float32))
        self.sharpness = torch.nn.Parameter(torch.tensor(-math.log(recipe.temperature)))
        self.vectors.data[0] *= 0.01
        rows = np.zeros(len(examples.tokens.vocabulary), np.int64)
        rows[words] = np.arange(1, len(words) + 1)
        self._offsets, self._words = examples.tokens.offsets, rows[examples.tokens.ids]

    def forward(self, captions: NDArray[np.int64], mask: torch.Tensor) -> torch.Tensor:
        """Vectors of captions of length 1, without the masked dimensions, float32[n, width]."""
        starts, lengths = self._offsets[captions], np.diff(self._offsets)[captions]
        begins = np.cumsum(lengths) - lengths
        words = torch.from_numpy(self._words[np.repeat(starts - begins, lengths) + np.arange(lengths.sum())])
        known = (words > 0) + 1e-6
        summed = functional.embedding_bag(
            words,
            self.vectors,
            torch.from_numpy(begins),
            mode="sum",
            per_sample_weights=self.weights.exp()[words] * known,
        )
        return functional.normalize(summed * mask, dim=-1)

    def fit_of(self, rated: Sequence[object], mask: torch.Tensor) -> torch.Tensor:
        """Cosine of each rated caption with the sum of its references, float32[n]."""
        captions = np.array([each.candidate for each in rated] + [r for each in rated for r in each.references])
        vectors = self(captions, mask)
        of = torch.tensor([i for i, each in enumerate(rated) for _ in each.references])
        summed = torch.zeros(len(rated), vectors.shape[1]).index_add(0, of, vectors[len(rated) :])
        return (vectors[: len(rated)] * functional.normalize(summed, dim=-1)).sum(1)


def out_of_order(cosines: torch.Tensor, ratings: torch.Tensor) -> torch.Tensor:
    """The logistic loss of pairs whose ratings differ."""
    higher = ratings[:, None] - ratings[None] > _APART
    return functional.softplus(-_SLOPE * (cosines[:, None] - cosines[None])[higher]).mean()


def _word_counts(examples: Examples) -> NDArray[np.int64]:
    captions = np.concatenate(list(examples.images.values()))
    used = np.zeros(len(examples.texts), bool)
    used[captions] = True
    ids = examples.tokens.ids[np.repeat(used, examples.tokens.lengths)]
    return np.bincount(ids, minlength=len(examples.tokens.vocabulary))
