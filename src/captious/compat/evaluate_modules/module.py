"""The base class of the modules. Needs Hugging Face ``evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import datasets
import evaluate

from captious.compat.by_name import choose
from captious.evaluation import score
from captious.metrics.contract import registry

__all__ = ["CaptionModule"]

_DESCRIPTION = """
Args:
    predictions: candidates, one for each image.
    references: for each of them, one reference or a list of references; the same form for all.
    {parameters}: parameters of captious.{class_name}; optional.
Returns:
    {outputs}: corpus scores.
"""


class CaptionModule(evaluate.Metric):
    """A metric of captious. The configuration, if any, is the name of a variant."""

    #: The name of the metric.
    metric: ClassVar[str]

    def _info(self) -> evaluate.MetricInfo:
        class_ = registry.get(self.metric)
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=f"{class_.name} of captious: {class_.summary}.",
            citation="",
            inputs_description=_DESCRIPTION.format(
                parameters=", ".join(class_.declared) or "no settings",
                class_name=class_.__name__,
                outputs=", ".join(class_.outputs),
            ),
            features=[
                datasets.Features({"predictions": text, "references": [text]}),
                datasets.Features({"predictions": text, "references": text}),
            ],
        )

    def _compute(
        self, predictions: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]], **settings: Any
    ) -> dict[str, float]:
        """Score captions.

        Args:
            predictions: candidates.
            references: for each candidate, one reference or a list of references.
            settings: parameters of the metric, such as ``variant`` and ``tokenizer``.

        Returns:
            Output -> corpus score.
        """
        if self.config_name != "default":
            settings = {"variant": self.config_name, **settings}
        metric = choose(self.metric, **settings).metric
        report = score(list(predictions), [_listed(group) for group in references], metric)
        return {output: float(result.score) for output, result in zip(metric.outputs, report.values(), strict=True)}


def _listed(group: str | Sequence[str]) -> list[str]:
    return [group] if isinstance(group, str) else list(group)
