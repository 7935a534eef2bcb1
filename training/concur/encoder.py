"""Trains the vectors of words and subwords: a caption is the normalized sum of those of its words.

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

from captious.learned.caption_weights import subwords_of
from examples import Examples, Rated
from recipe import Recipe

__all__ = ["frequent_words", "out_of_order", "train_encoder"]

_RATINGS = 512  # rated captions, and pairs, in a batch
_APART = 0.25  # ratings that differ by less are taken for equal
_NEVER_SPELLED = 100  # the most frequent words, which always have their vector
_SLOPE = 10.0  # of the loss of ratings, in cosines


def frequent_words(examples: Examples, recipe: Recipe) -> NDArray[np.int64]:
    """Return ids of the most frequent words of captions of images, the most frequent first."""
    counts = _word_counts(examples)
    ranked = np.argsort(-counts, kind="stable")[: recipe.words]
    return ranked[counts[ranked] > 1]


def train_encoder(
    examples: Examples, words: NDArray[np.int64], recipe: Recipe
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return vectors of words, weighted, float32[n_words, width], and of subwords, float32[n_buckets, width]."""
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
        model.spell(random, recipe.spelled)
        drawn = [images[i] for i in random.choice(len(images), min(recipe.batch, len(images)), replace=False)]
        two = np.array([captions[random.permutation(len(captions))[:2]] for captions in drawn])
        first, second = model(two.T.ravel(), mask).chunk(2)
        cosines = first @ second.T * model.sharpness.exp()
        same = torch.arange(len(drawn))
        loss = (functional.cross_entropy(cosines, same) + functional.cross_entropy(cosines.T, same)) / 2

        if len(rated):
            some = random.choice(len(rated), min(_RATINGS, len(rated)), replace=False)
            loss = loss + out_of_order(model.fit_of([examples.rated[i] for i in some], mask), rated[some])
        if len(paired):
            some = random.choice(len(paired), min(_RATINGS, len(paired)), replace=False)
            captions = np.array([examples.pairs[i].captions for i in some])
            first, second = model(captions.T.ravel(), mask).chunk(2)
            loss = loss + out_of_order((first * second).sum(1), paired[some])

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 250 == 0 or step == recipe.steps - 1:
            print(f"  step {step:,}: loss {loss.item():.3f}", flush=True)
    with torch.no_grad():
        vectors = model.vectors * torch.cat([model.weights.exp(), torch.ones(recipe.buckets)])[:, None]
        return vectors[: len(words)].numpy(), vectors[len(words) :].numpy()


class _Encoder(torch.nn.Module):
    """Vectors and weights of words, followed by vectors of subwords, which spell all other words.

    In each step, some words are spelled, too, so that subwords learn what words mean.
    """

    def __init__(self, examples: Examples, words: NDArray[np.int64], recipe: Recipe) -> None:
        super().__init__()
        counts = _word_counts(examples)
        rarity = 0.5 * np.log(counts.sum() / np.maximum(counts[words], 1)) / 8
        self.vectors = torch.nn.Parameter(torch.randn(len(words) + recipe.buckets, recipe.width) * 0.1)
        self.weights = torch.nn.Parameter(torch.tensor(rarity, dtype=torch.float32))
        self.sharpness = torch.nn.Parameter(torch.tensor(-math.log(recipe.temperature)))
        rows = np.full(len(counts), -1)
        rows[words] = np.arange(len(words))
        self._rows, self._ids, self._offsets = rows, examples.tokens.ids, examples.tokens.offsets
        names = [
            name if row < 0 or row >= _NEVER_SPELLED else ""
            for name, row in zip(examples.tokens.vocabulary.words(), rows.tolist(), strict=True)
        ]
        buckets, self._bucket_offsets = subwords_of(names, recipe.buckets)
        self._buckets = buckets + len(words)
        self.spell(np.random.default_rng(0), 0)

    def spell(self, random: np.random.Generator, share: float) -> None:
        """Spell the words without a vector, and this share of the others, until it is called again."""
        spelled = (self._rows < 0) | (random.random(len(self._rows)) < share)
        spelled &= np.diff(self._bucket_offsets) > 0
        lengths = np.where(spelled, np.diff(self._bucket_offsets), 1)
        self._starts = np.cumsum(lengths) - lengths
        self._lengths = lengths
        self._parts = np.repeat(np.maximum(self._rows, 0), lengths)
        of_spelled = np.repeat(spelled, lengths)
        self._parts[of_spelled] = self._buckets[np.repeat(spelled, np.diff(self._bucket_offsets))]
        shares = np.repeat(np.where(spelled, lengths**-0.5, 1), lengths)
        shares[np.repeat(~spelled & (self._rows < 0), lengths)] = 0
        self._shares = torch.tensor(shares, dtype=torch.float32)

    def forward(self, captions: NDArray[np.int64], mask: torch.Tensor) -> torch.Tensor:
        """Return vectors of captions of length 1, without the masked dimensions, float32[n, width]."""
        starts, lengths = self._offsets[captions], np.diff(self._offsets)[captions]
        ids = self._ids[_ranges(starts, lengths)]
        n_parts = self._lengths[ids]
        parts = _ranges(self._starts[ids], n_parts)
        ends = np.concatenate([[0], np.cumsum(n_parts)])
        begins = ends[np.cumsum(lengths) - lengths]
        rows = torch.from_numpy(self._parts[parts])
        weights = torch.cat([self.weights.exp(), torch.ones(len(self.vectors) - len(self.weights))])
        summed = functional.embedding_bag(
            rows,
            self.vectors,
            torch.from_numpy(begins),
            mode="sum",
            per_sample_weights=weights[rows] * self._shares[torch.from_numpy(parts)],
        )
        return functional.normalize(summed * mask, dim=-1)

    def fit_of(self, rated: Sequence[Rated], mask: torch.Tensor) -> torch.Tensor:
        """Return cosine of each rated caption with the sum of its references, float32[n]."""
        captions = np.array([each.candidate for each in rated] + [r for each in rated for r in each.references])
        vectors = self(captions, mask)
        of = torch.tensor([i for i, each in enumerate(rated) for _ in each.references])
        summed = torch.zeros(len(rated), vectors.shape[1]).index_add(0, of, vectors[len(rated) :])
        return (vectors[: len(rated)] * functional.normalize(summed, dim=-1)).sum(1)


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all ranges, one after the other."""
    return np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())


def out_of_order(cosines: torch.Tensor, ratings: torch.Tensor) -> torch.Tensor:
    """Return the logistic loss of pairs whose ratings differ."""
    higher = ratings[:, None] - ratings[None] > _APART
    return functional.softplus(-_SLOPE * (cosines[:, None] - cosines[None])[higher]).mean()


def _word_counts(examples: Examples) -> NDArray[np.int64]:
    captions = np.concatenate(list(examples.images.values()))
    used = np.zeros(len(examples.texts), bool)
    used[captions] = True
    ids = examples.tokens.ids[np.repeat(used, examples.tokens.lengths)]
    return np.bincount(ids, minlength=len(examples.tokens.vocabulary))
