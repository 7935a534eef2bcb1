"""captious check: find problems in captions before they are scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import SYSTEM, Reading, SystemFile, named_systems, shared
from captious.cli.library_options import FILE
from captious.cli.options import some_settings
from captious.cli.outputs import Destination, output_options
from captious.evaluation import check as check_captions


@click.command()
@click.argument("candidates", type=SYSTEM)
@click.argument("references", type=FILE, required=False)
@output_options()
@shared("reading", "several", "match", "ids", "clean")
@some_settings("language", "tokenizer", "idf")
def check(
    candidates: SystemFile,
    references: Path | None,
    reading: Reading,
    destination: Destination,
    **options: Any,
) -> None:
    """Check CANDIDATES before they are scored, compared with REFERENCES if there are any.

    The table counts candidates that are empty, contain Markdown, begin like the answer to a prompt, have several
    sentences, are much longer or shorter than references, are in another script or language, repeat themselves or are
    cut off. Below it are the warnings of captious score, with advice.

    With --from, CANDIDATES may be a log that contains the references, too.
    """
    [name] = named_systems([candidates])
    result = check_captions(*reading.pair(candidates, references), system=name, **options)
    destination.deliver(result.to_table())
