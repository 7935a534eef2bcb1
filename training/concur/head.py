"""Trains a head on a contextual encoder: vectors of captions from the encoder's hidden states.

The loss is that of ``encoder.py``: captions of one image must find each other, and rated captions must be in the order
of their ratings. In addition, captions that were made wrong are among those that an image's caption must not find.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from captious.learned.caption_features import joined_words, pooled, probe
from captious.models import Encoder
from captious.models.encoders import numbered
from encoder import out_of_order
from examples import Examples
from negatives import Negative
from recipe import HeadRecipe

__all__ = ["States", "train_head"]

_REPORTED = 20_000  # captions between two lines of progress


@dataclass(frozen=True, eq=False)
class States:
    """Pooled hidden states of captions, float16[n_texts, n], and which of them each caption has.

    Args:
        pooled: of the distinct texts.
        of_captions: int64[n_captions], the row of each caption of the examples; -1 for captions of other images.
        of_negatives: the row of the wrong caption of each image that has one.
    """

    pooled: NDArray[np.float16]
    of_captions: NDArray[np.int64]
    of_negatives: Mapping[int | str, int]

    @classmethod
    def of(
        cls, encoder: Encoder, examples: Examples, negatives: Mapping[int | str, Negative], kept: Path | None = None
    ) -> States:
        """Encode all captions, but for those in the file ``kept``, if it exists; afterwards it holds all of them."""
        wrong = [" ".join(negative.words) for negative in negatives.values()]
        used = examples.used()
        texts, rows = numbered([*joined_words(examples.tokens.take(used)), *wrong])
        of_captions = np.full(len(examples.texts), -1)
        of_captions[used] = rows[: len(used)]
        pooled_states = np.empty((len(texts), probe(encoder).shape[1]), np.float16)
        known = _read(kept) if kept is not None and kept.exists() else {}
        new = []
        for row, text in enumerate(texts):
            if text in known:
                pooled_states[row] = known[text]
            else:
                new.append(row)
        layer, done = encoder.n_blocks, 0
        for batch in encoder.run(encoder.tokenize([texts[row] or "." for row in new]), [layer]):
            pooled_states[[new[place] for place in batch.rows.tolist()]] = pooled(batch.hidden[layer])
            if done // _REPORTED < (done + len(batch.rows)) // _REPORTED:
                print(f"  {done + len(batch.rows):,} of {len(new):,} captions encoded", flush=True)
            done += len(batch.rows)
        if kept is not None and new:
            np.savez(kept, texts=np.frombuffer("\n".join(texts).encode(), np.uint8), states=pooled_states)
        return cls(pooled_states, of_captions, dict(zip(negatives, rows[len(used) :].tolist(), strict=True)))

    def vectors(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return vectors of the distinct texts, of length 1, float32[n_texts, width]."""
        vectors: NDArray[np.float32] = self.pooled.astype(np.float32) @ matrix
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return vectors


def _read(path: Path) -> dict[str, NDArray[np.float16]]:
    """Return pooled states by text."""
    with np.load(path) as file:
        return dict(zip(file["texts"].tobytes().decode().split("\n"), file["states"], strict=True))


def train_head(states: States, examples: Examples, recipe: HeadRecipe) -> NDArray[np.float32]:
    """Return the matrix of a head, float32[n, width]."""
    torch.manual_seed(recipe.seed)
    random = np.random.default_rng(recipe.seed)
    head = _Head(states.pooled, recipe)
    optimizer = torch.optim.Adam(head.parameters(), lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / 100) * max(0.02, 1 - step / recipe.steps)
    )
    of = states.of_captions
    images = [*examples.images]
    rated = torch.tensor([each.rating for each in examples.rated])
    paired = torch.tensor([each.rating for each in examples.pairs])
    for step in range(recipe.steps):
        mask = (torch.rand(recipe.width) > recipe.masked).float()
        drawn = [images[i] for i in random.choice(len(images), min(recipe.batch, len(images)), replace=False)]
        two = np.array([examples.images[image][random.permutation(len(examples.images[image]))[:2]] for image in drawn])
        wrong = [states.of_negatives[image] for image in drawn if image in states.of_negatives]
        n = len(drawn)
        vectors = head(np.concatenate([of[two.T.ravel()], np.array(wrong, np.int64)]), mask)
        one, other, damaged = vectors[:n], vectors[n : 2 * n], vectors[2 * n :]
        sharpness, same = head.sharpness.exp(), torch.arange(n)
        loss = functional.cross_entropy(other @ torch.cat([one, damaged]).T * sharpness, same)
        loss = (loss + functional.cross_entropy(one @ other.T * sharpness, same)) / 2

        if len(rated):
            some = random.choice(len(rated), min(recipe.rated, len(rated)), replace=False)
            each = [examples.rated[i] for i in some]
            captions = np.array([r.candidate for r in each] + [i for r in each for i in r.references])
            vectors = head(of[captions], mask)
            image = torch.tensor([i for i, r in enumerate(each) for _ in r.references])
            summed = torch.zeros(len(each), recipe.width).index_add(0, image, vectors[len(each) :])
            cosines = (vectors[: len(each)] * functional.normalize(summed, dim=-1)).sum(1)
            loss = loss + out_of_order(cosines, rated[some])

        if len(paired):
            some = random.choice(len(paired), min(recipe.rated, len(paired)), replace=False)
            captions = np.array([examples.pairs[i].captions for i in some])
            one, other = head(of[captions.T.ravel()], mask).chunk(2)
            loss = loss + out_of_order((one * other).sum(1), paired[some])

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == recipe.steps - 1:
            print(f"  step {step:,}: loss {loss.item():.3f}", flush=True)
    with torch.no_grad():
        matrix: NDArray[np.float32] = head.matrix.numpy()
        return matrix


class _Head(torch.nn.Module):
    """The matrix, which begins close to one that keeps the states as they are."""

    def __init__(self, states: NDArray[np.float16], recipe: HeadRecipe) -> None:
        super().__init__()
        n = states.shape[1]
        noise = torch.randn(n, recipe.width) * (0.02 / math.sqrt(n))
        self.matrix = torch.nn.Parameter(torch.eye(n, recipe.width) + noise)
        self.sharpness = torch.nn.Parameter(torch.tensor(-math.log(recipe.temperature)))
        self._states = states

    def forward(self, rows: NDArray[np.int64], mask: torch.Tensor) -> torch.Tensor:
        """Return vectors of captions of length 1, without the masked dimensions, float32[n, width]."""
        return functional.normalize((torch.from_numpy(self._states[rows]).float() @ self.matrix) * mask, dim=-1)
