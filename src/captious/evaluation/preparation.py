"""``prepare``: everything that metrics compute about references, computed once and stored in a file."""

from __future__ import annotations

import os
from collections.abc import Iterable

from captious.data import Captions, References, read_references, recorded, write_prepared
from captious.evaluation.metric_run import evaluate
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.selection import Selection, select
from captious.metrics.contract.settings import Settings


def annotate(references: References, selection: Selection) -> None:
    """Let metrics compute everything that they need about references; the object keeps it.

    The first reference of every image is scored as a candidate for this.
    """
    firsts = tuple(references.texts[start] for start in references.offsets[:-1].tolist())
    evaluate(Captions(firsts, references), selection, system="preparing")


def prepare(
    references: object,
    path: str | os.PathLike[str],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    settings: Settings | None = None,
) -> References:
    """Write references to a file, with everything that metrics compute about references alone.

    The file is accepted wherever references are: by ``score``, ``compare``, ``read_references`` and ``reward``. Scores
    are bit-identical to those of the original references. Other metrics and settings work, too, but take as long as
    without the file.

    Args:
        references: any form that ``read_references`` reads.
        path: the file.
        metrics, settings: as for ``score``.

    Returns:
        The references of the file.

    Raises:
        InputError: invalid references.
        UnknownNameError, ParameterError: as ``score`` does.
        OutputError: the file cannot be written.
    """
    selection = select(metrics, settings)
    write(read_references(references), path, selection)
    return read_references(path)


def write(references: References, path: str | os.PathLike[str], selection: Selection) -> None:
    """Write references to a file, with everything that the selected metrics compute about them; see ``prepare``."""
    table = recorded(references)
    annotate(table, selection)
    write_prepared(path, table, selection.labels)
