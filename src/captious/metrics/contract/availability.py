"""Which metrics can run on this machine, and what the others lack."""

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
    """Whether a metric runs here.

    Args:
        state: "runs"; "no model", if a model has to be downloaded first; "missing", if something has to be installed,
            or given with each request; "broken", if what it needs cannot be used.
        help: the command that installs what is missing, the parameter to give, or the error; empty if it runs.
    """

    state: Readiness
    help: str = ""

    @property
    def runs(self) -> bool:
        """Whether it runs without anything being installed or downloaded."""
        return self.state == "runs"


def availability(name: str) -> Availability:
    """Whether the metric of this name runs here with its default parameters.

    Raises:
        UnknownNameError: no such metric.
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
    """Every metric that can run here with these settings, and a sentence about those that cannot.

    Metrics that judge several candidates per image together are among them if there are several.

    A metric on a language model is among them if the settings say which model, as its default may have to be downloaded
    first; one that needs images or weights, if the settings name them.
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
    """The metrics of the COCO evaluation that can run here, and a sentence about those that cannot."""
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
