"""Feature sets: a name and an ordered list of metric outputs, which a learned metric combines.

The built-in sets are those of NNEval (Sharif et al. 2018) and LCEval (Sharif et al. 2019), in the order of their code.
Resources such as word vectors are settings of a run, not part of a set.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.entry_points import did_you_mean
from captious.errors import CaptiousError, ParameterError, ResourceError, UnknownNameError
from captious.files.checksum import checksum
from captious.learned.recipe_files import read_table
from captious.metrics.contract import catalogue
from captious.metrics.contract.parameters import LARGE
from captious.metrics.contract.request import Request
from captious.metrics.contract.settings import Settings
from captious.phrases import counted
from captious.resources.coco_val import NAME as COCO_VAL

#: Parameters that are resources. A set may name the document frequencies of the package, which are not a user's file.
_RESOURCES = ({*Settings.__dataclass_fields__} | {"constants", "stop_words", "weights"}) - {"tokenizer"}
_MOST_FEATURES = 1_000
_HELP = 'write {"name": "mine", "features": ["bleu-1", {"metric": "cider-d", "scale": 0.1}]}'


@dataclass(frozen=True)
class Feature:
    """An output of a metric, times a scale.

    Args:
        metric: a specification that names one output: ``bleu-1``, ``hwcm-2:chains=dep``.
        scale: factor of its scores.
    """

    metric: str
    scale: float = 1.0

    @property
    def label(self) -> str:
        """Name of the column: the output with its variant and parameters, as written."""
        return str(Request.from_text(self.metric))


@dataclass(frozen=True)
class FeatureSet:
    """An ordered set of features.

    Args:
        name: name in signatures: letters, digits, dots, - and _.
        features: at least one, each metric once.

    Raises:
        ParameterError: no features, too many, a duplicate, a metric without the name of a single output, a resource
            among the parameters, a scale that is not a finite number, or an invalid name.
        UnknownNameError: an unknown metric or output.
    """

    name: str
    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        allowed = isinstance(self.name, str) and 0 < len(self.name) <= 100 and self.name.isascii()
        if not allowed or not all(c.isalnum() or c in ".-_" for c in self.name):
            raise ParameterError(
                f"{self.name!r:.60} is not a valid name for a feature set", help="use letters, digits, dots, - and _"
            )
        if not 0 < len(self.features) <= _MOST_FEATURES:
            raise ParameterError(
                f"the feature set {self.name} has {counted(len(self.features), 'feature')}",
                help=f"give 1 to {_MOST_FEATURES:,}",
            )
        for feature in self.features:
            _check(feature, self.name)
        labels = self.labels
        if duplicates := [label for label in labels if labels.count(label) > 1]:
            raise ParameterError(f"{duplicates[0]} is given twice", where=f"feature set {self.name}", help="remove one")

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.features)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(feature.label for feature in self.features)

    @property
    def label(self) -> str:
        """The set in signatures: its name and a checksum of the content."""
        content = json.dumps([[feature.label, feature.scale] for feature in self.features])
        return f"{self.name}-{checksum(content)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the set as plain values for files."""
        return {"name": self.name, "features": [{"metric": f.metric, "scale": f.scale} for f in self.features]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> FeatureSet:
        """Restore from the values of ``to_dict``; a feature may also be just a specification.

        Raises:
            ParameterError, UnknownNameError: as the class, or something of another form.
        """
        entries = content.get("features")
        if {*content} != {"name", "features"} or not isinstance(entries, Sequence) or isinstance(entries, str):
            raise ParameterError(
                "this is not a feature set", where=f"it has {', '.join(map(str, content))}", help=_HELP
            )
        return cls(content["name"], tuple(map(_feature, entries)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FeatureSet:
        """Read a set from a JSON or TOML file.

        Raises:
            ResourceError: no such file, or not a feature set.
        """
        content = read_table(path, "a feature set", _HELP)
        try:
            return cls.from_dict(content)
        except CaptiousError as error:
            where = "\n".join(filter(None, [str(path), error.where]))
            raise ResourceError(error.message, where=where, help=error.help) from error


def _feature(entry: Any) -> Feature:
    if isinstance(entry, str):
        return Feature(entry)
    if isinstance(entry, Mapping) and "metric" in entry and {*entry} <= {"metric", "scale"}:
        return Feature(entry["metric"], entry.get("scale", 1.0))
    raise ParameterError(f"{entry!r:.60} is not a feature", help=_HELP)


def _check(feature: Feature, of: str) -> None:
    where = f"feature set {of}: {feature.metric!s:.60}"
    if not isinstance(feature.metric, str):
        raise ParameterError("a feature must be the name of a metric", where=where, help=_HELP)
    scale = feature.scale
    if not isinstance(scale, int | float) or isinstance(scale, bool) or not math.isfinite(scale) or abs(scale) > LARGE:
        raise ParameterError(f"invalid scale {scale!r:.60}", where=where, help=f"give a number up to {LARGE:,}")
    request = Request.from_text(feature.metric)
    owner = catalogue.owner(request.name)
    if owner is None:
        raise catalogue.unknown(request.name)
    outputs = catalogue.get(owner).outputs
    if request.name not in outputs:
        raise ParameterError(
            f"{request.name} has several outputs",
            where=where,
            help=f"give one of {', '.join(outputs)} for each feature",
        )
    for name, value in request.parameters.items():
        if name in _RESOURCES and (name, value) != ("idf", COCO_VAL):
            raise ParameterError(
                f"{name} is a resource, which cannot be a part of a feature set",
                where=where,
                help=f"remove it, and give it as a setting of the run where there is one: --{name.replace('_', '-')}",
            )


def _built_in(name: str, *features: str | tuple[str, float]) -> Mapping[str, FeatureSet]:
    return {name: FeatureSet(name, tuple(Feature(*((f,) if isinstance(f, str) else f)) for f in features))}


def _lceval(name: str, combine: str) -> Mapping[str, FeatureSet]:
    """Return LCEval's 16 features; ``combine`` sets another way than the best for some to combine references."""
    parameter = f":combine={combine}" if combine else ""
    chains = f",combine={combine}" if combine else ""
    return _built_in(
        name,
        *(f"ngram-precision-{n}{parameter}" for n in range(1, 5)),
        f"unigram-recall{parameter}",
        *("rouge-l", "meteor", "wmd@lceval", "spice", f"cider-d:idf={COCO_VAL}"),
        f"mowe{parameter}",
        *(f"hwcm-{depth}:chains=lemma{chains}" for depth in (2, 3, 4)),
        *(f"hwcm-{depth}:chains=dep{chains}" for depth in (2, 3)),
    )


def _sets() -> dict[str, FeatureSet]:
    return {
        **_built_in(
            "nneval",
            *("meteor", "wmd@lceval", "bleu-1", "bleu-2", "bleu-3", "bleu-4", "spice"),
            (f"cider-d:idf={COCO_VAL}", 0.1),
        ),
        **_lceval("lceval", ""),
        **_lceval("lceval-mean", "mean"),
        **_lceval("lceval-min", "min"),
    }


#: The names of the built-in sets.
FEATURE_SETS = ("nneval", "lceval", "lceval-mean", "lceval-min")


def as_feature_set(source: FeatureSet | str | os.PathLike[str]) -> FeatureSet:
    """Return a feature set by its name, or from a file (.json or .toml).

    Raises:
        UnknownNameError: neither the name of a set nor a file.
        ResourceError: a file that holds no feature set.
    """
    if isinstance(source, FeatureSet):
        return source
    name = os.fspath(source)
    if name in FEATURE_SETS:
        return _sets()[name]
    if Path(name).suffix in (".json", ".toml"):
        return FeatureSet.load(source)
    raise UnknownNameError(
        f"there is no feature set {name!r}",
        help=f"{did_you_mean(name, FEATURE_SETS)}give {', '.join(FEATURE_SETS)}, or a file (.json, .toml)",
    )
