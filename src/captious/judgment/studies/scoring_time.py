"""Scoring time of metrics, in seconds per 1,000 captions. Sharif et al. 2019 (LCEval), section 7.5.7."""

from __future__ import annotations

import platform
import time
from dataclasses import replace

import numpy as np

from captious.data import Captions, References, read_captions
from captious.errors import ParameterError
from captious.evaluation import evaluate
from captious.judgment.scores.metric_scores import Metrics, as_selection, score_captions
from captious.judgment.studies.shared.study_sources import checksums
from captious.judgment.study_result import Study
from captious.metrics.contract.settings import Settings
from captious.native import threads, using_threads
from captious.phrases import counted
from captious.progress import steps

_WARM_UP = 10  # captions


def scoring_time(
    candidates: object,
    references: object = None,
    metrics: Metrics = None,
    *,
    settings: Settings | None = None,
    repeats: int = 5,
) -> Study:
    """Measure the time of each metric on captions that it has not seen before.

    Every metric is timed alone, including tokenization and document frequencies, but not reading files and loading
    resources: a few captions are scored beforehand for that.

    Args:
        candidates: captions of a system, in any supported form.
        references: human captions, in any supported form. In Python, None if the candidates are ``Captions``.
        metrics, settings: as for ``judge``.
        repeats: number of timings per metric.

    Returns:
        One record per metric, seconds per 1,000 captions: wall_s, the median of the repeats, fastest_s and slowest_s;
        cpu_s, the median of the CPU time of all threads together.

    Raises:
        ParameterError: no repeats.
        Others as ``captious.score``, about captions and metrics.
    """
    if repeats < 1:
        raise ParameterError(f"{repeats} is not a number of repeats", help="time every metric at least once")
    captions = candidates if isinstance(candidates, Captions) else read_captions(candidates, references)
    selection = as_selection(metrics, settings)
    n = len(captions)
    with using_threads(selection.settings.threads):
        n_threads = threads()
    records = []
    signatures: dict[str, str] = {}
    warnings: list[str] = []
    with steps(selection, lambda entry: entry.metric.name) as timed:
        for entry in timed:
            label = next(iter(entry.output_indices)) if len(entry.output_indices) == 1 else entry.metric.name
            one = replace(selection, requested=(entry,))
            score_captions(_unseen(captions.select(np.arange(min(n, _WARM_UP)))), one, name="timing")
            times = []
            for _ in range(repeats):
                fresh = _unseen(captions)
                wall, cpu = time.perf_counter(), time.process_time()
                report = evaluate(fresh, one)
                times.append((time.perf_counter() - wall, time.process_time() - cpu))
            warnings += [warning for warning in report.warnings if warning not in warnings]
            signatures |= {output: result.signature for output, result in report.items()}
            walls, cpus = (np.array(times) / n * 1000).T
            record = {"metric": label, "wall_s": np.median(walls), "fastest_s": walls.min(), "slowest_s": walls.max()}
            record |= {"cpu_s": np.median(cpus)}
            records.append({key: value if key == "metric" else float(value) for key, value in record.items()})
    return Study(
        "timing",
        f"Seconds per 1,000 captions, median of {repeats}: {counted(n, 'caption')}, "
        f"{len(captions.references.texts) / n:.1f} references each, {counted(n_threads, 'thread')}",
        ("metric", "wall_s", "fastest_s", "slowest_s", "cpu_s"),
        records,
        signatures,
        checksums(candidates, references),
        {"captions": n, "repeats": repeats, "threads": n_threads, "machine": platform.machine()},
        warnings=warnings,
    )


def _unseen(captions: Captions) -> Captions:
    """Return a copy of captions without any annotations."""
    old = captions.references
    return Captions(captions.candidates, References(old.ids, old.texts, old.offsets, name=old.name, images=old.images))
