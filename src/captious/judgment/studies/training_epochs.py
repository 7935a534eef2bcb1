"""Agreement and accuracy of a learned metric after each training epoch.

Sharif et al. 2019 (LCEval), figures 7.7 (agreement on the validation captions by epoch) and 7.8 (accuracy of the
classifier against agreement).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.evaluation.inference.resampling import Sampling
from captious.judgment.correlation import correlation
from captious.judgment.human_judgments import RatedCaptions
from captious.judgment.studies.shared.network_trials import Trials
from captious.judgment.study_result import Curve, Curves, Study
from captious.learned.networks.network import Network
from captious.learned.networks.network_recipes import Recipe
from captious.learned.networks.network_training import train_network
from captious.metrics.contract.settings import Settings
from captious.phrases import counted
from captious.random_seed import DEFAULT_SEED


def training_epochs(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    *,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
) -> Study:
    """Return agreement and accuracy on the validation captions, and accuracy on the training examples, by epoch.

    Args:
        examples: a file written by ``captious learn data``.
        recipe: a recipe, its name, or its file.
        validation: a file of captions with ratings, as for ``captious learn train``; a caption counts as good if its
            rating is above the middle of the scale. By default, the validation examples, which count as good if a
            person wrote them.
        settings: word vectors, parser and other settings of the features.

    Returns:
        One record per epoch: epoch, tau_b (agreement with the ratings), accuracy and training_accuracy (shares of
            correctly classified captions). Pictures of each by epoch, and of accuracy against agreement.

    Raises:
        ParameterError: as ``feature_ablation``, which has the others.
    """
    trials = Trials(
        examples, recipe, (), validation=validation, settings=settings, seeds=1, sampling=Sampling(1, DEFAULT_SEED)
    )
    validated = trials.judgments[0]
    assert isinstance(validated, RatedCaptions)
    ratings = np.concatenate(validated.ratings)
    good = ratings > (ratings.min() + ratings.max()) / 2
    records: list[dict[str, Any]] = []

    def watch(network: Network) -> None:
        scores = network.human(trials.judged_features[0])
        tau = correlation("kendall-tau-b", scores, ratings)
        records.append(
            {
                "epoch": len(records) + 1,
                "tau_b": None if np.isnan(tau) else tau,
                "accuracy": _accuracy(scores, good),
                "training_accuracy": _accuracy(network.human(trials.features), trials.human),
            }
        )

    outcome = train_network(trials.recipe, trials.features, trials.human, trials.judged_features[0], ratings, watch)
    columns = ("epoch", "tau_b", "accuracy", "training_accuracy")
    of_column = {name: np.array([record[name] for record in records], np.float64) for name in columns}
    r = correlation("pearson", of_column["accuracy"], of_column["tau_b"])
    best = int(np.argmax(of_column["accuracy"])) + 1
    tau, *accuracies = (Curve(of_column["epoch"], of_column[name]) for name in columns[1:])
    lines = dict(zip(("validation captions", "training examples"), accuracies, strict=True))
    points = {"epochs": Curve(of_column["accuracy"], of_column["tau_b"], points=True)}
    return Study(
        "epochs",
        f"Agreement and accuracy by epoch: recipe {trials.recipe.name}, "
        f"{counted(len(trials.human), 'training example')}",
        columns,
        records,
        trials.signatures,
        trials.data,
        {"recipe": trials.recipe.name, "seed": trials.recipe.seed},
        pictures={
            "epochs": Curves(f"Training of {trials.recipe.name}", "epoch", "tau-b", {"validation captions": tau}),
            "epochs-accuracy": Curves(f"Training of {trials.recipe.name}", "epoch", "accuracy", lines),
            "accuracy": Curves(f"Epochs of {trials.recipe.name}", "accuracy", "tau-b", points),
        },
        notes=[
            f"Best agreement {outcome.best_tau:.4f} after epoch {outcome.best_epoch}; best accuracy "
            f"{of_column['accuracy'].max():.4f} after epoch {best}, where agreement is "
            f"{of_column['tau_b'][best - 1]:.4f}."
            + ("" if np.isnan(r) else f" Over epochs, accuracy and agreement correlate with Pearson's r = {r:.3f}."),
        ],
        warnings=["training was interrupted: there are no later epochs."] if outcome.interrupted else [],
    )


def _accuracy(scores: NDArray[np.float64], good: NDArray[np.bool_]) -> float:
    """Return the share of correctly classified captions."""
    return float(((scores > 0.5) == good).mean())
