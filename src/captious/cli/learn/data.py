"""captious learn data: make training examples from references and the results of systems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import SYSTEM, Reading, SystemFile, named_systems, reading_options
from captious.cli.library_options import COUNT, FILE, option_of
from captious.cli.options import data_option, output_file, seed_option
from captious.data import read_references
from captious.errors import ParameterError
from captious.judgment.files import data_folder
from captious.judgment.judging import coco_sources
from captious.learned.training.examples import NEGATIVES, make_examples, read_ids, write_examples


@click.command()
@click.argument("references", type=FILE, required=False)
@click.argument("systems", type=SYSTEM, nargs=-1, metavar="[SYSTEM]...")
@output_file()
@click.option(
    "--keep-out",
    type=FILE,
    metavar="FILE",
    help="Ids of images that must not be used: a JSON list, or one id on each line.",
)
@option_of(make_examples, "negatives", click.Choice(NEGATIVES))
@option_of(make_examples, "images", COUNT)
@option_of(make_examples, "per_image", COUNT)
@option_of(make_examples, "n_references", COUNT, flags=("--references-each",))
@option_of(make_examples, "validation", click.FloatRange(0, 1), metavar="SHARE")
@seed_option
@data_option
@reading_options
def data(
    references: Path | None,
    systems: tuple[SystemFile, ...],
    reading: Reading,
    output: Path,
    keep_out: Path | None,
    data: Path | None,
    **options: Any,
) -> None:
    """Make examples for 'captious learn train' from REFERENCES and the results of real SYSTEMs.

    Half of the examples are human captions, each with the other references of its image; half are captions of
    systems, or of other images, with as many references. Captions that people and systems both wrote, ignoring case
    and punctuation, are dropped on both sides, and counted. All examples of an image are either for training or for
    validation.

    Without REFERENCES, the captions of COCO's validation images and the systems in the folder of judgment data are used
    (coco/captions_val2014.json.gz, coco/results_val2014), except for the images of coco/evaluation_images.json.gz.
    """
    files: dict[str, Any] = {"references": references, "systems": named_systems(systems)}
    if references is None:
        files["references"], of_coco, left_out = coco_sources(data_folder(data).folder)
        files["systems"] = named_systems(of_coco)
        keep_out = keep_out or left_out
    elif data is not None:
        raise ParameterError("--data has no effect when REFERENCES are given", hint="remove --data")
    out = read_ids(keep_out) if keep_out is not None else []
    sources = reading.sources(files)
    examples, counts = make_examples(
        read_references(sources["references"]), sources["systems"], keep_out=out, **options
    )
    write_examples(output, examples)
    click.echo(f"{output}: {counts}", err=True)
