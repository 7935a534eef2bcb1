"""Availability of metrics on this machine, and missing requirements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from captious.errors import CaptiousError, option
from captious.metrics.contract import catalogue
from captious.metrics.contract.request import Request
from captious.metrics.contract.set_metrics import SetMetric
from captious.metrics.contract.settings import Settings

#: The outputs of the COCO evaluation, in its order.
COCO = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice")

Readiness: TypeAlias = Literal["runs", "no model", "missing", "broken"]


@dataclass(frozen=True)
class Availability:
    """The availability of a metric.

    Args:
        state: "runs"; "no model", if a model has to be downloaded first; "missing", if a requirement has to be
            installed, or passed with each request; "broken", if a requirement is unusable.
        help: the command that installs the missing requirement, the parameter to pass, or the error; empty if it runs.
    """

    state: Readiness
    help: str = ""

    @property
    def runs(self) -> bool:
        """Whether it runs without installing or downloading anything."""
        return self.state == "runs"


def availability(name: str) -> Availability:
    """Return the availability of a metric with its default parameters.

    Raises:
        UnknownNameError: an unknown metric.
    """
    if name not in catalogue.metric_names():
        raise catalogue.unknown(name)
    try:
        metric = catalogue.get(name)
        missing = metric.missing()
        if missing is not None:
            return Availability("missing", missing)
        required = [item for item in metric.declared.values() if item.required]
        instructions = [f"give {name}:{item.name}=..., {item.summary}" for item in required]
        if metric.default_models:
            from captious.models.pretrained import is_here  # no other metric needs it

            if absent := [model for model in metric.default_models if not is_here(model)]:
                commands = "; ".join(f"hf download {model}" for model in absent)
                download = f"{commands} (or give another {option('model', 'NAME')})"
                return Availability("no model", "; ".join([download, *instructions]))
        if instructions:
            return Availability("missing", "; ".join(instructions))
    except CaptiousError as error:  # offered by another package that is broken, or what it needs is damaged
        return Availability("broken", error.message)
    return Availability("runs")


def available(settings: Settings, *, several: bool = False) -> tuple[list[str], tuple[str, ...]]:
    """Return every metric that is available with these settings, and a sentence about the others.

    Metrics of several candidates per image are included if ``several``.

    Metrics with a language model are included if the settings name the model, as the default may have to be downloaded
    first; those that need images or weights, if the settings name them.
    """
    names: list[str] = []
    left_out: dict[str, str] = {}
    for name in catalogue.metric_names():
        try:
            metric = catalogue.get(name)
            if issubclass(metric, SetMetric) and not several:
                continue
            # What it lacks by default may be among the settings.
            command = None if settings.vectors is not None and "vectors" in metric.declared else metric.missing()
            if metric.default_models and settings.model is None:
                left_out[name] = f"needs {option('model', 'NAME')}"
            elif command is not None:
                left_out[name] = f"run {command}"
            else:
                Request(name).make(metric, settings)
                names.append(name)
        except CaptiousError as error:  # offered by another package that is broken, or something is missing
            left_out[name] = error.message
    return names, _left_out(left_out)


def coco_available() -> tuple[list[str], tuple[str, ...]]:
    """Return the available metrics of the COCO evaluation, and a sentence about the others."""
    left_out = {
        name: f"run {command}"
        for name in COCO
        if (command := catalogue.get(Request(name).metric).missing()) is not None
    }
    return [name for name in COCO if name not in left_out], _left_out(left_out)


def _left_out(reasons: Mapping[str, str]) -> tuple[str, ...]:
    if not reasons:
        return ()
    metrics = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return (f"metrics skipped because requirements are missing: {metrics}",)
