"""What trained metrics over features share: features in, the probability that a person wrote the caption out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache

from captious.data import Captions
from captious.errors import ParameterError
from captious.learned.features import Features
from captious.learned.trained import Trained, bundled
from captious.metrics.contract.metric import State
from captious.metrics.contract.settings import Settings
from captious.models import WordVectors
from captious.parsing.parsed_captions import ParseSource

__all__ = ["LearnedMetric"]


class LearnedMetric(Features):
    """P(human), 0 to 1, of a network over features. The corpus score is the mean.

    Args:
        weights: a file that ``captious learn train`` wrote, or its content; None for those of the package.
        vectors: word vectors of the features; see ``captious.WordVectors.open``.
        parser: where the parses of the features come from; see ``Spice``.
        variant: see ``variants``.

    Raises:
        ResourceError: a file that holds no weights.
        ParameterError: weights of another metric.
        MissingExtraError: a resource that a feature needs is not installed.
    """

    def __init__(
        self,
        weights: Trained | str | os.PathLike[str] | None = None,
        *,
        vectors: WordVectors | str | os.PathLike[str] | None = None,
        parser: ParseSource | str | os.PathLike[str] | None = None,
        variant: str | None = None,
    ) -> None:
        self.trained = self._weights(weights, variant)
        if self.trained.metric != self.name:
            raise ParameterError(
                f"these weights are of {self.trained.metric}, not of {self.name}",
                where=self.trained.contents,
                help=f"use {self.trained.metric}:weights=FILE",
            )
        settings = Settings(vectors=vectors, parser=parser)
        super().__init__(self.trained.features, settings, combine=self.trained.network.human, variant=variant)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"variant": self.variant, "weights": self.trained.label, **super().parameters}

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        found = super().warnings(captions, state)
        ours = self.resources
        others = {name: said for name, said in self.trained.resources.items() if ours.get(name, said) != said}
        if others:
            trained = ", ".join(f"{name} {said}" for name, said in others.items())
            here = ", ".join(f"{name} {ours[name]}" for name in others)
            found.append(
                f"the weights of {self.name} were trained with {trained}, but its features are computed with {here}: "
                "compare its scores only with scores of the same signature, or train it with these resources "
                "(captious learn train)."
            )
        return found

    def _weights(self, weights: Trained | str | os.PathLike[str] | None, variant: str | None) -> Trained:
        """What a variant scores with, unless other weights are given."""
        if isinstance(weights, Trained):
            return weights
        return _loaded(os.fspath(bundled(self.name))) if weights is None else Trained.load(weights)


@lru_cache(maxsize=4)
def _loaded(path: str) -> Trained:
    return Trained.load(path)
