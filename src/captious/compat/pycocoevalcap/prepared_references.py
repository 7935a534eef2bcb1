"""References that stay the same from one evaluation to the next, in programs that hand them to scorers each time.

``prepare_references`` writes tokenized references to a file with all that scorers compute about them. After
``use_prepared_references``, every scorer that is given these references takes it from the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from captious.compat.pycocoevalcap.harness_input import references_table, tables_in_use
from captious.data import read_references
from captious.evaluation import prepare
from captious.metrics import bleu, cider_d, meteor, rouge_l, spice
from captious.metrics.contract.metric import Metric
from captious.text import SPACES, WHITESPACE

__all__ = ["prepare_references", "use_prepared_references"]


def prepare_references(gts: Mapping[object, list[str]], path: str | os.PathLike[str]) -> None:
    """Write references to a file, with all that the scorers of the COCO toolkit compute about them.

    Args:
        gts: image id -> list of tokenized references, as scorers take them.
        path: the file.

    Raises:
        InputError: what is wrong with the references; the error names the image.
        OutputError: the file cannot be written.
    """
    metrics: list[Metric] = [bleu.Bleu(tokenizer=WHITESPACE), rouge_l.RougeL(tokenizer=SPACES)]
    metrics.append(cider_d.CiderD(tokenizer=WHITESPACE))
    if meteor.Meteor.missing() is None:
        metrics.append(meteor.Meteor(tokenizer=SPACES))
    if spice.Spice.missing() is None:
        metrics.append(spice.Spice(tokenizer=WHITESPACE))
    prepare(references_table(gts), path, metrics)


def use_prepared_references(*paths: str | os.PathLike[str]) -> None:
    """Take what scorers compute about references from files, in this process and from now on.

    Scores stay the same. References are those of a file if it has the same texts in the same order; others are scored
    as usual.

    Args:
        paths: files that ``prepare_references`` wrote, in place of those of an earlier call; none to use no file.

    Raises:
        InputError: a file that is damaged, or of something else.
    """
    tables_in_use[:] = [read_references(path) for path in paths]
