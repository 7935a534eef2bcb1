"""The metrics of the package in all their variants, for tests over all of them."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from captious.metrics.contract import registry
from captious.metrics.contract.metric import SetMetric

#: Metrics whose own tests bring a small model: those that the defaults name are hundreds of megabytes on a hub.
MODELS = (
    *("bertscore", "capture", "clipscore", "leic", "mima", "refclipscore"),
    *("sbert", "smurf", "soft-spice", "spurts", "yi2020"),
)
#: Metrics that need more than captions, which their own tests bring.
INPUTS = ("amber", "chair", "fense", "judge-clair", "judge-geval", "novel", "pope", "spider-fl")
#: Variants of other metrics that need a model, too.
MODEL_VARIANTS = (("concur", "full"),)
#: Metrics that are trained on others, SPICE among them.
TRAINED = ("nneval", "lceval")
#: Metrics to which words are vectors, so that no word is quite unlike another.
VECTORS = ("wmd", "mowe", "wembsim", "concur", "coverage")
#: The lowest score, where it is not 0.
LOWEST = {"mowe": -1.0}
#: Metrics that cannot run in these tests, and why, as a reason for skipping them; METEOR's tables come with a package.
MISSING = {
    name: f"no pycocoevalcap: {command}"
    for name in registry.metric_names()
    if (command := registry.get(name).missing()) is not None
}
MISSING |= dict.fromkeys(MODELS, "not here: its own tests bring a model")
MISSING |= dict.fromkeys(INPUTS, "not here: its own tests bring more than captions")
#: Metrics of several candidates per image, which have tests of their own.
OF_SETS = tuple(name for name in registry.metric_names() if issubclass(registry.get(name), SetMetric))


def variants_of(name: str) -> list[str]:
    """Return the variants of a metric that need no model that its default does not need."""
    return [variant for variant in registry.get(name).variants if (name, variant) not in MODEL_VARIANTS]


def every_variant(*names: str) -> list[ParameterSet]:
    """(name, variant) of these metrics, or of all that judge single captions and need neither a model nor other inputs,
    as parameters of tests; what is not installed is skipped.
    """
    return [
        pytest.param(
            (name, variant),
            id=f"{name}@{variant}",
            marks=[pytest.mark.skip(MISSING[name])] if name in MISSING else [],
        )
        for name in names or [n for n in registry.metric_names() if n not in (*OF_SETS, *MODELS, *INPUTS)]
        for variant in variants_of(name)
    ]


def variants_here() -> list[tuple[str, str]]:
    """(name, variant) of those that judge single captions and can run here."""
    return [
        (n, variant)
        for n in registry.metric_names()
        if n not in MISSING and n not in OF_SETS
        for variant in variants_of(n)
    ]
