"""Metrics that take long with the captions of a run: said before, and left out unless they were asked for by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from captious.data import Captions, CaptionSets
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.selection import Selection


def without_slow(selection: Selection, tables: Sequence[Captions | CaptionSets]) -> tuple[Selection, list[str]]:
    """The metrics of a run without those that take long and that nobody named, which its warnings say.

    Args:
        selection: the metrics.
        tables: the captions of all systems.

    Returns:
        The metrics, and what to say about slow ones that were named, before they run.
    """
    kept, left_out, slow = [], [], []
    for item in selection:
        metric = item.metric
        reason = ""
        if isinstance(metric, Metric):
            reasons = (metric.slow(table) for table in tables if isinstance(table, Captions))
            reason = next(filter(None, reasons), "")
        name = metric.name
        faster = f"{name}:split=sentences is many times faster" if "split" in metric.declared else ""
        if reason and not item.is_named:
            hint = f", or -m {faster}" if faster else ""
            left_out.append(f"{name} is left out, because it {reason}: -m {name} asks for it{hint}.")
            continue
        if reason:
            slow.append(f"{name} {reason}{': ' if faster else ''}{faster}.")
        kept.append(item)
    if not kept:  # a run of nothing is no run
        return selection, slow
    return replace(selection, requested=tuple(kept), warnings=(*selection.warnings, *left_out)), slow
