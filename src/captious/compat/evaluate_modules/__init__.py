"""Modules for Hugging Face ``evaluate``: folders for ``evaluate.load``, one for each metric.

    captious evaluate-modules DIR
    evaluate.load("DIR/captious_cider_d").compute(predictions=[...], references=[[...], ...])

Writing them does not need ``evaluate``; their base class in ``module`` does.
"""

from __future__ import annotations

import os
from pathlib import Path

from captious.errors import OutputError
from captious.files import whole_file
from captious.metrics.contract import registry
from captious.metrics.contract.metric import SetMetric

__all__ = ["metrics", "module_name", "write_modules"]

#: Metrics that need more than predictions and references: images, objects in them, or training captions.
_LEFT_OUT = ("chair", "clipscore", "refclipscore", "novel")

# Not "from ... import CaptionModule": evaluate takes the first class of a module that is one of its own.
_MODULE = '''"""{name} of captious, for Hugging Face evaluate: {summary}."""

import captious.compat.evaluate_modules.module


class {class_name}(captious.compat.evaluate_modules.module.CaptionModule):
    metric = "{name}"
'''


def metrics() -> list[str]:
    """Return the metrics of captious that can be modules."""
    return [
        name for name in registry.METRICS if name not in _LEFT_OUT and not issubclass(registry.get(name), SetMetric)
    ]


def module_name(metric: str) -> str:
    """Return the name of a metric's module: "captious_cider_d"."""
    return f"captious_{metric.replace('-', '_')}"


def write_modules(folder: str | os.PathLike[str]) -> list[Path]:
    """Write a module for every metric; each file is written atomically, and replaces an existing one.

    Args:
        folder: the output folder, created if necessary.

    Returns:
        The folders of the modules.

    Raises:
        OutputError: the place cannot be written to.
    """
    targets = []
    for metric in metrics():
        name = module_name(metric)
        target = Path(folder) / name
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"cannot write {target}", where=error.strerror or str(error), hint="name another folder"
            ) from error
        class_name = "".join(word.capitalize() for word in name.split("_"))
        with whole_file(target / f"{name}.py") as file:
            file.write(_MODULE.format(name=metric, summary=registry.get(metric).summary, class_name=class_name))
        targets.append(target)
    return targets
