"""``fit_resource``: resources that a metric computes once from references, such as document frequencies, saved in
files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from captious.data import Match, References, read_captions, read_references
from captious.errors import ParameterError, option
from captious.evaluation.checks import single_reference_warning
from captious.metrics.chair import Chair, with_objects
from captious.metrics.contract import registry
from captious.metrics.contract.metric import BaseMetric, Savable
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import select_one
from captious.metrics.contract.settings import Settings
from captious.words import DEFAULT_SEED, counted


@dataclass(frozen=True)
class FittedResource:
    """The result of fitting a metric, which can be saved, with warnings about the references."""

    resource: Savable
    warnings: Sequence[str]


def fit_resource(
    metric: str,
    files: Sequence[str | os.PathLike[str]],
    *,
    human: str | os.PathLike[str] | None = None,
    match: Match = "all",
    settings: Settings | None = None,
    seed: int = DEFAULT_SEED,
) -> FittedResource:
    """Fit a metric to files of references.

    Args:
        metric: name of the metric, with its variant and parameters.
        files: one file of references; for chair, any number of files of captions and of objects.
        human: for smurf, human captions that are not among the references; by default, one reference of each image is
            held out.
        match: "common" uses the images that human captions and the references both have; otherwise, a difference is an
            error.
        settings: settings of the metric.
        seed: random seed of the references to hold out.

    Raises:
        ParameterError: a metric that cannot be fitted, or a file or setting that it does not accept.
        InputError: a file that cannot be read.
    """
    settings = Settings() if settings is None else settings
    if settings.objects is not None and registry.owner_of(Request.from_text(metric).name) == Chair.name:
        raise ParameterError(
            f"{option('objects', 'FILE')} cannot be used with captious fit, which writes it",
            hint=f"remove {option('objects', 'FILE')}, and give that file as an argument",
        )
    selected_metric = select_one(metric, with_objects(metric, settings))
    if settings.idf is not None:
        raise ParameterError(
            f"{option('idf', 'FILE')} cannot be used with captious fit, which computes document frequencies",
            hint=f"remove {option('idf', 'FILE')}",
        )
    if isinstance(selected_metric, Chair):
        objects = selected_metric.objects_of(files)
        return FittedResource(objects, objects.warnings)
    if len(files) > 1:
        raise ParameterError(f"{selected_metric.name} is fitted to one file of references", hint="give one file")
    references = read_references(files[0])
    if settings.references_as == "cat":
        references = references.concatenated
    if human is None:
        resource = selected_metric.fit_resource(references, seed=seed)
    else:
        resource = _fitted_to_people(selected_metric, human, references, match=match)
    if resource is None:
        fittable = ", ".join(name for name in registry.metric_names() if registry.get(name).fitted_resource)
        raise ParameterError(f"{selected_metric.name} cannot be fitted", hint=f"metrics that can be fitted: {fittable}")
    return FittedResource(resource, single_reference_warning(references))


def _fitted_to_people(
    metric: BaseMetric, human: str | os.PathLike[str], references: References, *, match: Match
) -> Savable:
    from captious.metrics.smurf import Smurf

    if not isinstance(metric, Smurf):
        raise ParameterError(
            f"{metric.name} does not take human captions", hint=f"remove {option('human', 'FILE')}, or fit smurf"
        )
    people = read_captions(human, references, match=match)
    name = os.path.basename(references.name)
    source = f"{os.path.basename(human)}, with the references {name}; {counted(len(people), 'image')}"
    return metric.calibrate(people, name.partition(".")[0], source)
