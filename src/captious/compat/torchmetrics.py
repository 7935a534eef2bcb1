"""Caption metrics as ``torchmetrics.Metric``, for training loops, Lightning and distributed evaluation.

    from captious.compat.torchmetrics import CaptionMetric, CiderD
    metric = CiderD(idf="coco")  # or CaptionMetric("cider-d", idf="coco")
    metric.update(["a dog runs"], [["a dog is running", "the dog runs"]])
    metric.compute()

The state is the sum of the captions' statistics, which is added over processes, and ``compute`` returns the corpus
score of all of them. A metric that has to be fitted on all references, such as CIDEr-D without given document
frequencies, keeps the captions instead; ``compute`` then counts the references of all processes.

Needs torchmetrics, which the extra ``captious[torchmetrics]`` installs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from captious.compat.by_name import choose
from captious.data import Captions, read_captions
from captious.errors import CaptionTypeError, ParameterError, needed_for
from captious.metrics.contract.metric import Metric
from captious.words import counted

with needed_for("captious.compat.torchmetrics", "torchmetrics"):
    import torch
    import torchmetrics

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Bleu", "CaptionMetric", "Cider", "CiderD", "Meteor", "RougeL", "Spice", "Spider"]

Preds: TypeAlias = str | Sequence[str]
Target: TypeAlias = str | Sequence[str] | Sequence[Sequence[str]]

#: Arguments of ``torchmetrics.Metric``, which are not settings of a metric.
_TORCHMETRICS_SETTINGS = (
    "compute_on_cpu",
    "compute_with_cache",
    "dist_sync_fn",
    "dist_sync_on_step",
    "distributed_available_fn",
    "process_group",
    "sync_on_compute",
)


class CaptionMetric(torchmetrics.Metric):
    """A metric of captious.

    On construction, it scores a caption, so that all resources are loaded then.

    Args:
        metric: a metric of captious, or its specification: "cider-d", "bleu-4", "rouge-s:gap=2", ...
        settings: parameters of the metric, such as ``variant``, ``tokenizer`` and ``idf``, and arguments of
            ``torchmetrics.Metric``, such as ``process_group``.

    Raises:
        UnknownNameError: an unknown metric, output, variant or parameter.
        ParameterError: an invalid value of a parameter.
    """

    is_differentiable = False
    full_state_update = False
    higher_is_better = True

    def __init__(self, metric: str | Metric, **settings: Any) -> None:
        super().__init__(**{name: settings.pop(name) for name in _TORCHMETRICS_SETTINGS if name in settings})
        request = choose(metric, **settings)
        self.metric = request.require_caption_metric()
        self.columns = request.output_indices
        # Metrics in a MetricCollection share their states if these are equal in name and value after the first batch.
        form = re.sub(r"\W", "_", self.metric.signatures()[0])
        self._sum, self._number, self._texts = f"sum_{form}", f"number_{form}", f"captions_{form}"
        if self.metric.needs_fit:
            self.add_state(self._texts, default=[], dist_reduce_fx="cat")
        else:
            width = self.metric.statistics(_table(["a dog"], [["a dog"]])).shape[1]
            self.add_state(self._sum, default=torch.zeros(width, dtype=torch.float64), dist_reduce_fx="sum")
            self.add_state(self._number, default=torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")

    def update(self, preds: Preds, target: Target) -> None:
        """Add captions.

        Args:
            preds: candidates, or a single one.
            target: the references of every candidate, or a single one.

        Raises:
            InputError: invalid captions.
            ParameterError: different numbers of references and candidates.
        """
        candidates, references = _checked(preds, target)
        if not candidates:
            return
        captions = _table(candidates, references)
        if self.metric.needs_fit:
            getattr(self, self._texts).append(self._encoded(candidates, references))
            return
        total = torch.from_numpy(self.metric.statistics(captions).sum(axis=0)).to(self.device)
        setattr(self, self._sum, getattr(self, self._sum) + total)
        setattr(self, self._number, getattr(self, self._number) + len(captions))

    def compute(self) -> Tensor | dict[str, Tensor]:
        """Return the corpus score: a tensor, or output -> tensor for a metric with several outputs.

        Raises:
            ParameterError: no captions were added.
        """
        if self.metric.needs_fit:
            captions = self._all_captions()
            statistics = self.metric.statistics(captions, self.metric.fit(captions.references)).sum(axis=0)
        else:
            if not int(getattr(self, self._number)):
                raise self._nothing()
            statistics = getattr(self, self._sum).cpu().double().numpy()
        scores = torch.from_numpy(np.asarray(self.metric.aggregate(statistics))).to(self.device)
        if len(self.columns) == 1:
            return scores[next(iter(self.columns.values()))]
        return {output: scores[column] for output, column in self.columns.items()}

    def _encoded(self, candidates: list[str], references: list[list[str]]) -> Tensor:
        """Encode captions as a tensor, one number for each byte.

        The tensor has the dtype of the metric, like the empty tensor that torchmetrics gathers from a process without
        captions; 0 to 255 are exact in any dtype.
        """
        lines = "".join(json.dumps(pair) + "\n" for pair in zip(candidates, references, strict=True))
        return torch.frombuffer(bytearray(lines.encode()), dtype=torch.uint8).to(self.device, self.dtype)

    def _all_captions(self) -> Captions:
        """Return the captions of all updates, and when processes are synchronized, of all processes."""
        state = getattr(self, self._texts)
        tensors = [state] if isinstance(state, torch.Tensor) else state
        pairs = [json.loads(line) for tensor in tensors for line in _lines(tensor)]
        if not pairs:
            raise self._nothing()
        return _table([candidate for candidate, _ in pairs], [references for _, references in pairs])

    def _nothing(self) -> ParameterError:
        return ParameterError(
            f"no captions have been added to {self.metric.name}", hint="call update() before compute()"
        )


class _Named(CaptionMetric):
    """A metric determined by its class."""

    _metric: ClassVar[str]

    def __init__(self, **settings: Any) -> None:
        super().__init__(self._metric, **settings)


def _named(metric: str) -> type[_Named]:
    name = "".join(word.capitalize() for word in metric.split("-"))
    summary = f"{metric}, with the parameters of ``captious.{name}``; ``compute`` is as in ``CaptionMetric``."
    return type(name, (_Named,), {"_metric": metric, "__module__": __name__, "__doc__": summary})


Bleu, Meteor, RougeL, Cider, CiderD, Spice, Spider = map(
    _named, ("bleu", "meteor", "rouge-l", "cider", "cider-d", "spice", "spider")
)


def _checked(preds: Preds, target: Target) -> tuple[list[str], list[list[str]]]:
    """Return candidates, and the references of each."""
    if isinstance(preds, str):
        preds, target = [preds], [target]  # type: ignore[list-item]
    if isinstance(target, str) or not isinstance(preds, Sequence) or not isinstance(target, Sequence):
        raise CaptionTypeError(
            "captions are not in lists", hint="give a list of candidates, and a list with the references of each"
        )
    if len(preds) != len(target):
        raise ParameterError(
            f"{counted(len(preds), 'candidate')}, but references for {len(target):,}",
            hint="give references for every candidate",
        )
    return list(preds), [[group] if isinstance(group, str) else list(group) for group in target]


def _table(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> Captions:
    return read_captions(list(candidates), list(map(list, references)))


def _lines(tensor: Tensor) -> Iterator[str]:
    yield from tensor.to("cpu", torch.uint8).numpy().tobytes().decode().splitlines()
