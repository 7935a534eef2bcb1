"""Prepared references for programs that pass the same references to scorers in every evaluation.

``prepare_references`` writes tokenized references to a file with everything that scorers compute about them. After
``use_prepared_references``, scorers that receive these references read it from the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from captious.compat.pycocoevalcap.harness_input import references_table, tables_in_use
from captious.data import References
from captious.data.reading.file_contents import is_prepared
from captious.data.storage.prepared_files import read_prepared
from captious.errors import CaptionFileError, CaptionTypeError
from captious.evaluation import prepare
from captious.metrics import bleu, cider_d, meteor, rouge_l, spice
from captious.metrics.contract.metric import Metric
from captious.text import SPACES, WHITESPACE

__all__ = ["prepare_references", "use_prepared_references"]

_HELP = "write it with prepare_references(gts, path)"


def prepare_references(gts: Mapping[object, list[str]], path: str | os.PathLike[str]) -> None:
    """Write references to a file, with everything that the scorers of the COCO toolkit compute about them.

    METEOR's and SPICE's parts are left out if these metrics are not available.

    Args:
        gts: image id -> list of tokenized references, as for scorers.
        path: the file.

    Raises:
        InputError: invalid references; the error names the image.
        OutputError: the file cannot be written.
    """
    metrics: list[Metric] = [bleu.Bleu(tokenizer=WHITESPACE), rouge_l.RougeL(tokenizer=SPACES)]
    metrics.append(cider_d.CiderD(tokenizer=WHITESPACE))
    if meteor.Meteor.missing() is None:
        metrics.append(meteor.Meteor(tokenizer=SPACES))
    if spice.Spice.missing() is None:
        metrics.append(spice.Spice(tokenizer=WHITESPACE))
    prepare(replace(references_table(gts), name="gts"), path, metrics)  # not what a file in use knows about them


def use_prepared_references(*paths: str | os.PathLike[str]) -> None:
    """Read what scorers compute about references from files, in this process from now on.

    Scores do not change. References match a file with the same texts in the same order and number for each image;
    others are scored as usual. Data that a file lacks, such as parses with another grammar, are computed as usual.

    Args:
        paths: files that ``prepare_references`` wrote, replacing those of an earlier call; none to use no file.

    Raises:
        CaptionTypeError: not a path.
        CaptionFileError: a file that is missing, damaged or of another kind. Its data are checked on first use.
    """
    tables_in_use[:] = [_read(path) for path in paths]


def _read(path: str | os.PathLike[str]) -> References:
    if not isinstance(path, str | os.PathLike):
        raise CaptionTypeError(f"a {type(path).__name__} is not a path", help="give one path or several")
    where = os.fspath(path)
    if not os.path.exists(path):
        raise CaptionFileError("the file does not exist", where=where, help=_HELP)
    if not is_prepared(path):
        raise CaptionFileError("this is not a file of prepared references", where=where, help=_HELP)
    try:
        table = read_prepared(path)
    except CaptionFileError as error:
        raise CaptionFileError(error.message, where=error.where, help=_HELP) from None
    if table.ids != tuple(range(len(table))):
        raise CaptionFileError("these references are not tokenized", where=where, help=_HELP)
    return table
