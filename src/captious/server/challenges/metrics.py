"""The metrics of a challenge as they run: settings that name files of its folder, and whether each metric can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from captious.errors import CaptiousError
from captious.metrics.contract import registry
from captious.metrics.contract.selection import check_used
from captious.metrics.contract.set_metric import SetMetric
from captious.metrics.contract.settings import Settings, accepted
from captious.metrics.contract.specification import Specification
from captious.models.pretrained import is_here
from captious.server.challenges.problems import at

__all__ = ["FILE_SETTINGS", "SHARED_SETTINGS", "metric_problems", "settings_in", "told"]

#: Settings that may name a file or folder.
FILE_SETTINGS = ("idf", "model", "vectors", "parser", "images", "objects", "training")
#: Those that are large, and may be elsewhere on the server.
SHARED_SETTINGS = ("model", "vectors", "images")


def settings_in(folder: Path, values: Mapping[str, str], *, threads: int | None = None) -> Settings:
    """The settings of a challenge, with files of its folder where they name such.

    Args:
        folder: of the challenge.
        values: ``ChallengeDefinition.settings``.
        threads: number of threads; None for all cores.

    Raises:
        CaptiousError: a value that cannot be used, as ``Settings`` says.
    """
    found: dict[str, Any] = dict(values)
    for name in FILE_SETTINGS:
        if name in found and not Path(found[name]).is_absolute() and (folder / found[name]).exists():
            found[name] = str(folder / found[name])
    return Settings(**found, threads=threads)


def metric_problems(metrics: Sequence[str], folder: Path, values: Mapping[str, str]) -> list[str]:
    """Why metrics cannot run here, a sentence for each that cannot; names that do not exist are left out.

    Args:
        metrics: specifications.
        folder: of the challenge.
        values: its settings.
    """
    settings, problems = Settings(), []
    for name, value in values.items():
        try:
            settings_in(folder, {name: value})
        except (CaptiousError, OSError) as error:
            problems.append(f"{at(('settings', name))}: {told(error)}")
    if not problems:
        settings = settings_in(folder, values)
    used = []
    for position, text in enumerate(metrics):
        try:
            what = Specification.from_text(text)
            owner = registry.owner(what.name)
            if owner is None:
                continue
            metric = registry.get(owner)
            used.append(metric)
            if reason := _lacks(metric, what, settings):
                problems.append(f"{at(('metrics', position))}: {what.name} cannot run here: {reason}")
        except CaptiousError as error:
            problems.append(f"{at(('metrics', position))}: {told(error)}")
    if not problems:
        try:
            check_used(settings, used)
        except CaptiousError as error:
            problems.append(f"settings: {told(error)}")
    return problems


def _lacks(metric: Any, what: Specification, settings: Settings) -> str:
    """What a metric needs that is not here; "" if it can run.

    Raises:
        CaptiousError: it cannot be made with its parameters.
    """
    if issubclass(metric, SetMetric):
        return "it judges several candidates per image together, and submissions have one"
    # What it lacks by default may be among its settings.
    given = {**settings.of_metrics, **what.parameters}
    command = None if "vectors" in given and "vectors" in accepted(metric) else metric.missing()
    if command is not None:
        return f"run {command}"
    what.make(metric, settings)
    if "model" in given or not metric.default_models:
        return ""
    absent = [model for model in metric.default_models if not is_here(model)]
    return "; ".join(f"run hf download {model}" for model in absent)


def told(error: Exception, folder: Path | None = None) -> str:
    """An error as one sentence: what, where within the folder, and what to do if that is short."""
    if not isinstance(error, CaptiousError):
        return str(error)
    where = error.where.replace(f"{folder}/", "") if folder is not None else error.where
    help = "" if "\n" in error.help else error.help
    return f"{error.message}{f' ({where})' if where else ''}{f'; {help}' if help else ''}"
