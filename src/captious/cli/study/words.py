"""captious study words: which words do people agree on?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.options import system_names
from captious.cli.study.group import study_options
from captious.judgment import Study, studies

__all__ = ["words"]


@click.command()
@click.argument("references", type=click.Path(path_type=Path))
@click.option(
    "--system",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="Captions of a system, for its precision at human recall. Can be repeated.",
)
@click.option(
    "--tagger",
    metavar="NAME",
    help="Group words into nouns, verbs and adjectives with this spaCy pipeline: a name such as en_core_web_sm, or a "
    "folder.",
)
@click.option(
    "--words",
    "n_words",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="Number of most frequent words; with a tagger, per word class.",
)
@click.option(
    "-k",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of references. Default: the usual number of captions minus one.",
)
@click.option("--subset", is_flag=True, help="Use only the images that references and systems have in common.")
@study_options(metrics=False, resampling=False)
def words(references: Path, outputs: tuple[Path, ...], **given: Any) -> Study:
    """Which words do people agree on? Measure how precisely human captions predict the most frequent words of other
    human captions, and how many they recall, and compare with the model of Chen et al. 2015.

    REFERENCES are human captions, several per image.
    """
    systems = dict(zip(system_names(outputs), outputs, strict=True))
    return studies.word_agreement(references, systems=systems, **given)
