"""Whether a metric can run on this machine, answered in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from captious.errors import CaptiousError
from captious.metrics.contract import catalogue

__all__ = ["Availability", "availability"]

Readiness: TypeAlias = Literal["runs", "no model", "missing", "broken"]


@dataclass(frozen=True)
class Availability:
    """Whether a metric runs here.

    Args:
        state: "runs"; "no model", if only a model has to be downloaded first; "missing", if something has to be
            installed; "broken", if what it needs cannot be used.
        help: the command that installs what is missing, or the error; empty if it runs.
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
    if name not in catalogue.names():
        raise catalogue.unknown(name)
    try:
        metric = catalogue.get(name)
        missing = metric.missing()
        if missing is not None:
            return Availability("missing", missing)
        if metric.default_models:
            from captious.models.pretrained import is_here  # no other metric needs it

            if absent := [model for model in metric.default_models if not is_here(model)]:
                commands = "; ".join(f"hf download {model}" for model in absent)
                return Availability("no model", f"{commands} (or give another --model)")
    except CaptiousError as error:  # offered by another package that is broken, or what it needs is damaged
        return Availability("broken", error.message)
    return Availability("runs")
