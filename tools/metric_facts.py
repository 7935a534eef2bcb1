"""The facts of a metric that its page shows on the site, read from its class: outputs, variants, parameters, signature.

A page of docs/metrics/ describes a family of metrics. Where it says ``<!-- facts of cider-d -->``, the site shows these
facts, so that no page repeats what the class says. ``captious metrics cider-d`` prints most of them.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import captious
from captious.errors import CaptiousError
from captious.metrics.contract import registry
from captious.metrics.contract.metric import BaseMetric, add_part
from captious.metrics.contract.registry import TOOLKIT_NAMES
from captious.metrics.contract.selection import metric_info

PROJECT = Path(__file__).parents[1]
PAGES = PROJECT / "docs" / "metrics"
#: The place of the facts of a metric on its page, and that of the list of all metrics.
PLACE = re.compile(r"^<!-- facts of ([a-z0-9-]+) -->$", re.MULTILINE)
LIST = "<!-- list of metrics -->"
#: Headings of sections that are about one metric of the page.
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BETTER = {True: "lower is better", False: "higher is better", None: "neither direction is better"}


def with_facts(page: str) -> str:
    """Return the Markdown of a page with the facts of its metrics, and the list of metrics, in their places."""
    return PLACE.sub(lambda place: facts(place[1]), page).replace(LIST, list_of_metrics() if LIST in page else LIST)


@cache
def places() -> dict[str, str]:
    """Return where each metric is described, relative to docs/: name -> page, with an anchor if it has a section."""
    found: dict[str, str] = {}
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text("utf-8")
        for place in PLACE.finditer(text):
            headings = _HEADING.findall(text[: place.start()])
            anchor = "#" + re.sub(r"[^\w\- ]", "", headings[-1].lower()).replace(" ", "-") if headings else ""
            if place[1] in found:
                raise ValueError(f"{place[1]} is described in {found[place[1]]} and in metrics/{path.name}")
            found[place[1]] = f"metrics/{path.name}{anchor}"
    return found


def list_of_metrics() -> str:
    """Return a table of all metrics with their outputs, variants and corpus scores."""
    rows = ["| metric | outputs | variants | corpus score |", "|---|---|---|---|"]
    for name, place in sorted(places().items()):
        metric = registry.get(name)
        variants = ", ".join(f"`{variant}`" for variant in metric.variants)
        rows.append(f"| [{name}]({place}) | {_outputs(metric)} | {variants} | {_corpus_score(metric)} |")
    return "\n".join(rows)


def facts(name: str) -> str:
    """Return the facts of a metric in Markdown."""
    metric, info = registry.get(name), metric_info(name)
    rows = [
        ("outputs", _outputs(metric)),
        ("range, direction", f"{_range(metric)}; {_direction(info.lower_is_better)}"),
        ("corpus score", _corpus_score(metric)),
        ("needs", (", ".join(info.needs) or "captions only") + _default_models(metric)),
        ("language", "English" if info.languages else "any"),
        ("class", f"`captious.{metric.__name__}`"),
        *((f"variant `{variant}`", meaning) for variant, meaning in metric.variants.items()),
    ]
    for parameter, declared in metric.declared.items():
        if parameter != "variant":
            default = declared.to_text(declared.default)
            key = declared.signature_key
            shown = f"; `{key}` in signatures" if key not in ("", parameter) else ""
            meaning = ": ".join(filter(None, (declared.summary, declared.values)))
            rows.append((f"parameter `{parameter}`", f"{meaning}; default `{default}`{shown}"))
    table = "\n".join(f"| {what} | {text} |" for what, text in rows)
    signature = example_signature(name)
    return f"| | |\n|---|---|\n{table}\n" + (f"\n```text\n{signature}\n```\n" if signature else "")


@cache
def example_signature(name: str) -> str:
    """Return the signature of the first output for the references of the examples; empty if it cannot run here."""
    if metric_info(name).missing is not None:
        return ""
    references = captious.read_references(PROJECT / "examples" / "references.json")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", captious.CaptiousWarning)
            metric = registry.get(name)()
            made = metric.signatures(metric.fit(references))
    except CaptiousError:
        return ""
    return (add_part(made, "references:5") if metric.needs_references else made)[0]


def _default_models(metric: type[BaseMetric]) -> str:
    models = ", ".join(f"`{model}`" for model in metric.default_models)
    return f"; by default {models}, with `pip install 'captious[models]'`" if models else ""


def _outputs(metric: type[BaseMetric]) -> str:
    return ", ".join(
        f"`{output}`" + (f" (`{TOOLKIT_NAMES[output]}`)" if output in TOOLKIT_NAMES else "")
        for output in metric.outputs
    )


def _range(metric: type[BaseMetric]) -> str:
    low, high = metric.bounds
    if math.isinf(low):
        return "any number"
    return f"{low:.3g} and up" if math.isinf(high) else f"{low:.3g} to {high:.3g}"


def _direction(lower_is_better: Mapping[str, bool | None]) -> str:
    """Return which direction is better, by output where they differ."""
    if len(set(lower_is_better.values())) == 1:
        return _BETTER[next(iter(lower_is_better.values()))]
    return ", ".join(f"`{output}`: {_BETTER[lower]}" for output, lower in lower_is_better.items())


def _corpus_score(metric: type[BaseMetric]) -> str:
    if issubclass(metric, captious.SetMeanMetric):
        return "mean over images"
    return "mean of caption scores" if issubclass(metric, captious.MeanMetric) else "from sums over images"
