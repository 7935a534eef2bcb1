"""Training of a network over features with torch; the result is a numpy network.

On one machine, the same recipe and data give the same bits: one thread, double precision, and numpy's random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError, needed_for
from captious.learned.networks.network import Network
from captious.learned.networks.network_recipes import Recipe
from captious.models.pretrained import torch_threads
from captious.phrases import counted
from captious.progress import Progress


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of training.

    Args:
        network: the network after the best epoch.
        best_epoch: number of that epoch, from 1.
        taus: validation tau after each epoch.
        interrupted: whether Ctrl-C ended the training.
    """

    network: Network
    best_epoch: int
    taus: tuple[float, ...]
    interrupted: bool

    @property
    def best_tau(self) -> float:
        """Validation tau of the network."""
        return self.taus[self.best_epoch - 1]


def check_torch() -> None:
    """Check that torch is installed.

    Raises:
        MissingExtraError: it is not.
    """
    with needed_for("training", "models"):
        import torch  # noqa: F401


def tau(scores: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    """Return Kendall's tau-b of scores with labels or ratings; 0 if the scores are constant."""
    from scipy.stats import kendalltau  # takes a second to import

    value = float(kendalltau(scores, target)[0])
    return value if np.isfinite(value) else 0.0


def train_network(
    recipe: Recipe,
    features: NDArray[np.float64],
    human: NDArray[np.bool_],
    validation: NDArray[np.float64],
    target: NDArray[np.float64],
    watch: Callable[[Network], None] | None = None,
) -> Outcome:
    """Train, and keep the network of the epoch with the best validation tau.

    Ctrl-C, after the first epoch, ends the training and keeps the best network so far.

    Args:
        recipe: the training recipe.
        features: of the training examples, float64[n, n_features].
        human: whether people wrote them, bool[n].
        validation: features of the validation captions, float64[m, n_features].
        target: labels or ratings of the validation captions, float64[m].
        watch: called with the network after each epoch.

    Raises:
        MissingExtraError: torch is not installed.
        ParameterError: too few examples, examples of one side only, or constant validation targets.
    """
    if len(features) != len(human) or human.all() or not human.any():
        raise ParameterError("all training examples are of one kind", help="give captions of people and of systems")
    if len(validation) < 2 or (target == target[0]).all():
        raise ParameterError(
            f"the {counted(len(validation), 'validation caption')} cannot be ranked",
            help="give validation captions with different labels or ratings",
        )
    check_torch()
    rng = np.random.default_rng(recipe.seed)
    taus: list[float] = []
    best: tuple[float, int, Network] | None = None
    interrupted = False
    with torch_threads(1), Progress(recipe.epochs) as progress:
        progress.step("training")
        try:
            for network in _epochs(recipe, features, human, rng):
                taus.append(tau(network.human(validation), target))
                if watch is not None:
                    watch(network)
                if best is None or taus[-1] > best[0]:
                    best = (taus[-1], len(taus), network)
                progress.reach(len(taus), f"validation tau {taus[-1]:.4f}, best {best[0]:.4f} after epoch {best[1]}")
                if len(taus) - best[1] >= recipe.patience:
                    break
        except KeyboardInterrupt:
            if best is None:
                raise
            interrupted = True
    assert best is not None
    return Outcome(best[2], best[1], tuple(taus), interrupted)


def _epochs(
    recipe: Recipe, features: NDArray[np.float64], human: NDArray[np.bool_], rng: np.random.Generator
) -> Iterator[Network]:
    """Yield the network after each epoch."""
    import torch

    layers = _initial(recipe, rng, torch)
    weights, biases = layers[0::2], layers[1::2]
    optimizer = torch.optim.Adam(layers, lr=recipe.learning_rate)
    x, y = torch.from_numpy(features.copy()), torch.from_numpy(human.astype(np.int64))
    for _ in range(recipe.epochs):
        order = torch.from_numpy(rng.permutation(len(features)))
        for batch in order.split(recipe.batch_size):
            loss = torch.nn.functional.cross_entropy(_logits(x[batch], weights, biases), y[batch])
            loss = loss + recipe.l2 / 2 * sum((layer * layer).sum() for layer in weights)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        yield Network(tuple(w.detach().numpy() for w in weights), tuple(b.detach().numpy() for b in biases))


def _initial(recipe: Recipe, rng: np.random.Generator, torch: Any) -> list[Any]:
    """Return weights and biases of each layer in turn, drawn by numpy."""
    layers = []
    for n_in, n_out in pairwise(recipe.sizes):
        spread = recipe.spread(n_in, n_out)
        if recipe.initialization == "he-normal":
            weights = rng.normal(0, spread, (n_in, n_out))
        else:
            weights = rng.uniform(-spread, spread, (n_in, n_out))
        layers += [torch.from_numpy(weights).requires_grad_(), torch.from_numpy(np.zeros(n_out)).requires_grad_()]
    return layers


def _logits(values: Any, weights: Sequence[Any], biases: Sequence[Any]) -> Any:
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        values = (values.relu() if layer else values) @ weight + bias
    return values
