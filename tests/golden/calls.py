"""How the tests of the golden record call captious, and what they keep of the results.

The record says what is computed, not how it is asked for: where a public function gets other parameters, only the
function here changes that stands for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import captious

__all__ = [
    *(
        "command",
        "compared",
        "compared_by_group",
        "compared_systems",
        "explained",
        "fields",
        "prepared",
        "reward_of",
        "scored",
    ),
    *("scored_by_group", "scored_systems", "scores", "signature", "without_version"),
]

Names = str | Sequence[Any]


def scored(candidates: Any, references: Any, metrics: Names, *, several: bool = False, **settings: Any) -> Any:
    """Return the report of one system."""
    given = captious.Settings(**settings)
    return captious.score(candidates, references, metrics, settings=given, several="mean" if several else None)


def scored_systems(systems: Mapping[str, Any], references: Any, metrics: Names, **settings: Any) -> Any:
    """Return the reports of several systems."""
    return captious.score_systems(dict(systems), references, metrics, settings=captious.Settings(**settings))


def compared(a: Any, b: Any, references: Any, metrics: Names, **sampling: Any) -> Any:
    """Return the comparison of two systems."""
    return captious.compare({"a": a, "b": b}, references, metrics, **sampling)


def compared_systems(reports: Any, **sampling: Any) -> Any:
    """Return the comparison of all pairs of systems."""
    return captious.compare(reports, **sampling)


def scored_by_group(report: Any, groups: object) -> Any:
    """Return a report by group of images."""
    return captious.by_group(report, groups)


def compared_by_group(comparison: Any, groups: object) -> Any:
    """Return a comparison by group of images."""
    return captious.by_group(comparison, groups)


def prepared(references: Any, path: Path, metrics: Names) -> Any:
    """Return references from a file with what metrics compute about them."""
    return captious.prepare(references, metrics, path=path)


def reward_of(metric: str, references: Any, **settings: Any) -> Any:
    """Return a metric as a reward."""
    return captious.reward(references, {metric: 1}, settings=captious.Settings(**settings))


def explained(metric: str, candidates: Any, references: Any, image: int | str, **settings: Any) -> dict[str, Any]:
    """Return the explanation of one caption as plain values."""
    given = captious.Settings(**settings)
    report = captious.score(candidates, references, metric, settings=given)
    explanation = report.explain(report.metrics[-1], image)
    values: dict[str, Any] = without_version(explanation.to_dict())
    return values


def command(*arguments: str | os.PathLike[str]) -> str:
    """Return what a command prints."""
    ended = subprocess.run(
        [sys.executable, "-m", "captious", *arguments], check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    return ended.stdout


def signature(text: str) -> str:
    """Return a signature without the version, which every release changes."""
    start, version = text.rsplit("|captious:", 1)
    assert version == captious.__version__
    return f"{start}|captious:*"


def without_version(document: Any) -> Any:
    """Return a document of a result whose signatures have no version."""
    if isinstance(document, dict):
        return {key: without_version(value) for key, value in document.items() if key != "version"}
    if isinstance(document, list | tuple):
        return [without_version(value) for value in document]
    is_signature = isinstance(document, str) and document.endswith(f"|captious:{captious.__version__}")
    return signature(document) if is_signature else document


def scores(report: Any) -> dict[str, Any]:
    """Return signature, direction, corpus score and caption scores of every output."""
    return {
        name: {
            "signature": signature(result.signature),
            "lower_is_better": result.lower_is_better,
            "score": result.score,
            "per_caption": result.per_caption,
        }
        for name, result in report.items()
    }


def fields(difference: Any) -> dict[str, Any]:
    """Return all fields of a difference."""
    values: dict[str, Any] = without_version(asdict(difference))
    return values
