"""captious check: find problems in captions before they are scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.library_options import FILE
from captious.cli.options import (
    clean_option,
    harness_option,
    ids_option,
    logs_and_references,
    match_option,
    reads_captions,
    several_option,
)
from captious.cli.outputs import Destination, output_options
from captious.data import CaptionFile
from captious.evaluation import check as check_captions
from captious.evaluation.report import name_of
from captious.report.formats import FORMATS


@click.command()
@click.argument("candidates", type=FILE)
@click.argument("references", type=FILE, required=False)
@output_options(*FORMATS)
@harness_option
@several_option
@match_option
@ids_option
@clean_option
@reads_captions("candidates", "references")
def check(
    candidates: Path,
    references: Path | None,
    harness: str | None,
    destination: Destination,
    **reading: Any,
) -> None:
    """Check CANDIDATES before they are scored, compared with REFERENCES if there are any.

    The table counts candidates that are empty, contain Markdown, begin like the answer to a prompt, have several
    sentences, are much longer or shorter than references, are in another script or language, repeat themselves or are
    cut off. Below it are the warnings of captious score, with advice.

    With --from, CANDIDATES is a log, and REFERENCES may be left out if it contains them.
    """
    sides: tuple[Path | CaptionFile, Path | CaptionFile | None] = (candidates, references)
    if harness is not None:
        files = [file for file in (candidates, references) if file is not None]
        (log, *_), of_log = logs_and_references(files, harness, has_columns=isinstance(candidates, CaptionFile))
        sides = (log, of_log)
    result = check_captions(*sides, system=name_of(candidates, "candidates"), **reading)
    destination.deliver(result.to_table())
