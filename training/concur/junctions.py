"""Trains the model of junctions: which word may follow which, learned by telling captions from damaged ones.

A junction of two words, or of a word and an end of the caption, is sound with probability sigmoid(left . right +
biases); a caption is sound if all its junctions are.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from examples import Examples
from recipe import Recipe

__all__ = ["DAMAGES", "damaged", "train_junctions"]

#: The ways in which captions are damaged.
DAMAGES = (
    "shuffled",
    "a word replaced",
    "a word missing",
    "cut off",
    "words repeated",
    "neighbors swapped",
    "words swapped",
)

UNKNOWN, START, END, FIRST_WORD = 0, 1, 2, 3
_BATCH = 512
_LEARNING_RATE = 5e-3


def train_junctions(
    examples: Examples, words: NDArray[np.int64], recipe: Recipe
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the weights of words for the junction to their right and left, float32[n_words + 3, width + 1] each; the
    last column is the bias, the first rows are those of unknown words, of the start and of the end."""
    torch.manual_seed(recipe.seed)
    random = np.random.default_rng(recipe.seed)
    rows = np.zeros(len(examples.tokens.vocabulary), np.int64)
    rows[words] = np.arange(FIRST_WORD, len(words) + FIRST_WORD)
    ids = rows[examples.tokens.ids]
    numbers = np.concatenate(list(examples.images.values()))
    captions = [ids[examples.tokens.offsets[i] : examples.tokens.offsets[i + 1]] for i in numbers]
    captions = [caption for caption in captions if len(caption) > 2]
    every = np.concatenate(captions)
    shape = len(words) + FIRST_WORD, recipe.junction_width
    left, right = (torch.nn.Parameter(torch.randn(shape) * 0.1) for _ in range(2))
    biases = [torch.nn.Parameter(torch.zeros(shape[0])) for _ in range(2)]
    optimizer = torch.optim.Adam([left, right, *biases], lr=_LEARNING_RATE)

    def sound(batch: list[NDArray[np.int64]]) -> torch.Tensor:
        """Return logarithm of the probability that each caption is sound, float32[n]."""
        flat = np.concatenate([[START, *caption, END] for caption in batch])
        of = np.repeat(np.arange(len(batch)), [len(caption) + 2 for caption in batch])
        inside = of[1:] == of[:-1]
        before, after = torch.from_numpy(flat[:-1][inside]), torch.from_numpy(flat[1:][inside])
        logits = (left[before] * right[after]).sum(1) + biases[0][before] + biases[1][after]
        return torch.zeros(len(batch)).index_add(0, torch.from_numpy(of[:-1][inside]), functional.logsigmoid(logits))

    for step in range(recipe.junction_steps):
        for group in optimizer.param_groups:
            group["lr"] = _LEARNING_RATE * max(0.02, 1 - step / recipe.junction_steps)
        whole = [captions[i] for i in random.integers(len(captions), size=_BATCH)]
        broken = [damaged(caption, int(random.integers(len(DAMAGES))), every, random) for caption in whole]
        loss = -sound(whole).mean() - torch.log1p(-sound(broken).clamp(max=-1e-4).exp()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 1000 == 0 or step == recipe.junction_steps - 1:
            print(f"  step {step:,}: loss {loss.item():.3f}", flush=True)
    with torch.no_grad():
        return (
            torch.cat([left, biases[0][:, None]], 1).numpy(),
            torch.cat([right, biases[1][:, None]], 1).numpy(),
        )


def damaged(
    caption: NDArray[np.int64], way: int, every: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int64]:
    """Damage a caption of at least two words in one of ``DAMAGES``; ``every`` has the words that replace others."""
    n = len(caption)
    if way == 0:
        return random.permutation(caption)
    place = int(random.integers(n))
    if way == 2:
        return np.delete(caption, place)
    if way == 3:
        return caption[: max(1, place)]
    if way == 4:
        end = min(n, place + 1 + int(random.integers(3)))
        return np.concatenate([caption[:end], caption[place:end], caption[end:]])
    changed = caption.copy()
    if way == 1:
        changed[place] = every[random.integers(len(every))]
    else:
        place = min(place, n - 2)
        other = place + 1 if way == 5 else int(random.integers(n))
        changed[[place, other]] = changed[[other, place]]
    return changed
