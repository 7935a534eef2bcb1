"""captious learn data: make training examples from references and the results of systems."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.options import data_option, seed_option, system_names
from captious.cli.outputs import written
from captious.data import read_references
from captious.errors import ParameterError, ResourceError
from captious.judgment.judgment_files import data_folder
from captious.learned.example_files import read_ids, write_examples
from captious.learned.examples import NEGATIVES, make_examples

__all__ = ["data"]

# The default: COCO's validation images and real systems, in the folder of judgment data.
_REFERENCES = "coco/captions_val2014.json.gz"
_SYSTEMS = "coco/results_val2014"
_KEEP_OUT = "coco/evaluation_images.json.gz"


@click.command()
@click.argument("references", type=click.Path(path_type=Path), required=False)
@click.argument("systems", type=click.Path(path_type=Path), nargs=-1, metavar="[SYSTEM]...")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Output file, written atomically.")
@click.option(
    "--keep-out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Ids of images that must not be used: a JSON list, or one id on each line.",
)
@click.option(
    "--negatives",
    type=click.Choice(NEGATIVES),
    default="machine",
    show_default=True,
    help="The negative half: captions of systems, captions of other images, or both.",
)
@click.option("--images", type=click.IntRange(min=1), metavar="N", help="Number of images to draw. Default: all.")
@click.option(
    "--per-image",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Captions by people, and as many by systems, for one image.",
)
@click.option(
    "--references-each",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    metavar="N",
    help="References of an example; one less than the image has, if that is fewer.",
)
@click.option(
    "--validation",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="Share of the images whose examples are for validation.",
)
@seed_option
@data_option
@written("output")
def data(
    references: Path | None,
    systems: tuple[Path, ...],
    output: Path,
    keep_out: Path | None,
    negatives: str,
    images: int | None,
    per_image: int,
    references_each: int,
    validation: float,
    seed: int,
    data: Path | None,
) -> None:
    """Make examples for 'captious learn train' from REFERENCES and the results of real SYSTEMs.

    Half of the examples are captions by people, each with the other references of its image; half are captions of
    systems, or of other images, with as many references. Captions that people and systems both wrote are dropped on
    both sides, and counted. All examples of an image are either for training or for validation.

    Without REFERENCES, the captions of COCO's validation images and the systems in the folder of judgment data are
    used (coco/captions_val2014.json.gz, coco/results_val2014), without the images of coco/evaluation_images.json.gz.
    """
    if references is None:
        folder = data_folder(data).folder
        references, keep_out = folder / _REFERENCES, keep_out or folder / _KEEP_OUT
        systems = tuple(sorted((folder / _SYSTEMS).glob("*.json*")))
        if not references.exists() or not systems:
            raise ResourceError(
                "the captions and systems of COCO are not in the folder of judgment data",
                where=f"{folder}: {_REFERENCES}, {_SYSTEMS}/",
                help="give REFERENCES and SYSTEMs",
            )
    elif data is not None:
        raise ParameterError("--data has no effect when REFERENCES are given", help="remove --data")
    out = read_ids(keep_out) if keep_out is not None else []
    examples, counts = make_examples(
        read_references(references),
        dict(zip(system_names(systems), systems, strict=True)),
        negatives=negatives,
        keep_out=out,
        images=images,
        per_image=per_image,
        n_references=references_each,
        validation=validation,
        seed=seed,
    )
    write_examples(output, examples)
    click.echo(f"{output}: {counts}", err=True)
