"""Training of a network over features with torch, and of a metric from files; the result is a numpy network.

On one machine, the same recipe and data give the same bits: one thread, double precision, and numpy's random numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError, needed_for, option
from captious.learned.files import check_name
from captious.learned.networks import FeatureMetric, Network, NetworkWeights, Recipe, as_recipe
from captious.learned.training.examples import Examples, read_examples, read_judged
from captious.metrics.contract.settings import Settings
from captious.models.pretrained import torch_threads
from captious.native import using_threads
from captious.progress import Progress, steps
from captious.words import counted

# Training of a network.


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
        ParameterError: too few examples, or examples of one side only.
    """
    if len(features) != len(human) or human.all() or not human.any():
        raise ParameterError("all training examples are of one kind", hint="give captions of people and of systems")
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


# ``learn``: training of a metric from files of examples.


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Training and validation data of a network.

    Args:
        train: the training examples.
        captions: the validation captions, which select the best epoch.
        target: labels or ratings of the validation captions, float64[n].
        units: the image of each validation caption, numbered from 0, int64[n]; a file of judged captions has no images,
            so each caption has its own number.
        about: the files, with checksums and counts, as recorded in files of weights.
    """

    train: Examples
    captions: Captions
    target: NDArray[np.float64]
    units: NDArray[np.int64]
    about: Mapping[str, object]


def training_data(examples: str | os.PathLike[str], validation: str | os.PathLike[str] | None) -> TrainingData:
    """Read training examples and validation captions.

    Args:
        examples: a file that ``captious learn data`` wrote.
        validation: a file of captions with ratings; None for the validation examples, ranked by who wrote them.

    Raises:
        CaptionFileError: a file that cannot be read.
        ParameterError: no examples for training or for validation, or equal labels or ratings of the latter.
    """
    rows, source = read_examples(examples)
    train = rows.part("train")
    about: dict[str, object] = {"examples": source | {"train": len(train), "human": int(train.human.sum())}}
    if validation is None:
        part = rows.part("validation")
        captions, target, units = part.captions, part.human.astype(np.float64), part.units
        about["validation"] = {"file": source["file"], "rows": len(part), "target": "human or machine"}
    else:
        captions, target, judged = read_judged(validation)
        units = np.arange(len(target))
        about["validation"] = judged | {"target": "rating"}
    if not len(train) or not len(captions):
        raise ParameterError(
            "there are no examples to " + ("train on" if not len(train) else "validate with"),
            where=str(examples),
            hint=f"make examples of both parts, or give {option('validation', 'FILE')}",
        )
    if (target == target[0]).all():
        raise ParameterError(
            "the validation captions all have the same label or rating",
            where=str(examples if validation is None else validation),
            hint="give validation captions with different labels or ratings",
        )
    return TrainingData(train, captions, target, units, about)


def feature_matrices(features: FeatureMetric, tables: Mapping[str, Captions]) -> list[NDArray[np.float64]]:
    """Return features of captions, float64[n_captions, n_features] each, with a step of progress for each table."""
    matrices = []
    with using_threads(features.settings.threads), steps([*tables], lambda name: f"features of {name}") as names:
        for name in names:
            captions = tables[name].with_references_as(features.settings.references_as)
            matrices.append(features.matrix(captions, features.fit(captions.references)))
    return matrices


def learn(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    *,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    name: str = "own",
    force: bool = False,
) -> tuple[NetworkWeights, Outcome]:
    """Train a metric.

    Args:
        examples: a file that ``captious learn data`` wrote.
        recipe: a recipe, its name, or its file.
        validation: captions with ratings, a file with ``{"candidate", "references", "rating"}`` on every line. The
            epoch whose scores agree best with them is kept. By default, these are the validation examples, rated by
            whether a person wrote them.
        settings: word vectors, parser and other settings of the features.
        name: name of the weights in signatures: letters, digits, dots, - and _.
        force: return a network even if its scores do not agree with the validation captions: a tau-b that is not above
            0.

    Returns:
        The trained metric and the course of its training.

    Raises:
        CaptionFileError, ResourceError, UnknownNameError: an unusable file or name.
        MissingExtraError: torch or a resource of a feature is not installed.
        ParameterError: unsuitable examples, an invalid name, or a useless network without ``force``.
    """
    check_name(name)
    check_torch()
    recipe = as_recipe(recipe)
    read = training_data(examples, validation)
    train, captions, target = read.train, read.captions, read.target
    features = FeatureMetric(feature_set=recipe.features, settings=settings)
    tables = {counted(len(train), "training example"): train.captions}
    tables |= {counted(len(captions), "validation caption"): captions}
    matrix, held_out = feature_matrices(features, tables)
    outcome = train_network(recipe, matrix, train.human, held_out, target)
    if outcome.best_tau <= 0 and not force:
        raise ParameterError(
            f"the network is useless: its best validation tau-b is {outcome.best_tau:.4f} (epoch {outcome.best_epoch})",
            where=str(examples),
            hint="give negative examples that people would rate lower, such as those of 'captious learn data "
            f"--negatives other', or {option('force')}",
        )
    figures = {
        "best_epoch": outcome.best_epoch,
        "epochs": len(outcome.taus),
        "validation_tau_b": outcome.best_tau,
        "training_accuracy": float(((outcome.network.human(matrix) > 0.5) == train.human).mean()),
        "feature_tau_b": {
            label: tau(column, target) for label, column in zip(recipe.features.labels, held_out.T, strict=True)
        },
    }
    depends_on = {**features.resources, **features.fitted_parameters(None), **features.references_as}
    resources = {key: str(value) for key, value in depends_on.items()}
    trained = NetworkWeights(
        recipe.metric, name, recipe.features, outcome.network, recipe.to_dict(), resources, read.about, figures
    )
    return trained, outcome
