"""``learn``: training of a metric from files of examples."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.learned.networks.feature_metrics import FeatureMetric
from captious.learned.networks.network_recipes import Recipe, as_recipe
from captious.learned.networks.network_training import Outcome, check_torch, tau, train_network
from captious.learned.networks.network_weights import NetworkWeights
from captious.learned.networks.training_example_files import read_examples, read_judged
from captious.learned.networks.training_examples import Examples
from captious.learned.weight_files import check_name
from captious.metrics.contract.settings import Settings
from captious.native import using_threads
from captious.phrases import counted
from captious.progress import Progress


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
        ParameterError: no examples for training or for validation.
    """
    rows, source = read_examples(examples)
    train = rows.part("train")
    about: dict[str, object] = {"examples": source.to_dict() | {"train": len(train), "human": int(train.human.sum())}}
    if validation is None:
        part = rows.part("validation")
        captions, target, units = part.captions, part.human.astype(np.float64), part.units
        about["validation"] = {"file": source.name, "rows": len(part), "target": "human or machine"}
    else:
        judged, judged_source = read_judged(validation)
        captions, target, units = judged.captions, judged.ratings, np.arange(len(judged.ratings))
        about["validation"] = judged_source.to_dict() | {"target": "rating"}
    if not len(train) or not len(captions):
        raise ParameterError(
            "there are no examples to " + ("train on" if not len(train) else "validate with"),
            where=str(examples),
            help="make examples of both parts (captious learn data --validation), or give --validation FILE",
        )
    return TrainingData(train, captions, target, units, about)


def learn(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    *,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    name: str = "own",
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

    Returns:
        The trained metric and the course of its training.

    Raises:
        CaptionFileError, ResourceError, UnknownNameError: an unusable file or name.
        MissingExtraError: torch or a resource of a feature is not installed.
        ParameterError: unsuitable examples, or an invalid name.
    """
    check_name(name)
    check_torch()
    settings = Settings() if settings is None else settings
    recipe = as_recipe(recipe)
    read = training_data(examples, validation)
    train, captions, target = read.train, read.captions, read.target
    features = FeatureMetric(feature_set=recipe.features, settings=settings)
    with using_threads(settings.threads), Progress(2) as progress:
        progress.step(f"features of {counted(len(train), 'training example')}")
        matrix = _matrix(features, train.captions)
        progress.step(f"features of {counted(len(captions), 'validation caption')}")
        held_out = _matrix(features, captions)
    outcome = train_network(recipe, matrix, train.human, held_out, target)
    figures = {
        "best_epoch": outcome.best_epoch,
        "epochs": len(outcome.taus),
        "validation_tau_b": outcome.best_tau,
        "training_accuracy": float(((outcome.network.human(matrix) > 0.5) == train.human).mean()),
        "feature_tau_b": {
            label: tau(column, target) for label, column in zip(recipe.features.labels, held_out.T, strict=True)
        },
    }
    resources = {key: str(value) for key, value in features.resources.items()}
    resources |= {key: str(value) for key, value in features.fitted_parameters(None).items()}
    trained = NetworkWeights(
        recipe.metric, name, recipe.features, outcome.network, recipe.to_dict(), resources, read.about, figures
    )
    return trained, outcome


def _matrix(features: FeatureMetric, captions: Captions) -> NDArray[np.float64]:
    return features.matrix(captions, features.fit(captions.references))
