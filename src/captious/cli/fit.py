"""captious fit: fit a metric to references and write the result to a file."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.caption_files import reads_captions
from captious.cli.library_options import FILE
from captious.cli.options import output_file, seed_option, settings_options
from captious.cli.outputs import warn
from captious.data import read_captions, read_references
from captious.errors import ParameterError
from captious.evaluation.caption_warnings import single_captions
from captious.metrics.chair import Chair, with_objects
from captious.metrics.contract import catalogue
from captious.metrics.contract.request import Request
from captious.metrics.contract.selection import select_one
from captious.metrics.contract.settings import Settings


@click.command()
@click.argument("metric")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="REFERENCES...")
@output_file()
@click.option(
    "--human",
    type=FILE,
    metavar="FILE",
    help="For smurf: human captions, one per image, that are not among REFERENCES. Default: one reference of each "
    "image is held out.",
)
@click.option("--subset", is_flag=True, help="With --human, use the images that both files have.")
@seed_option
@settings_options
@reads_captions("files", "human")
def fit(
    metric: str, files: tuple[Path, ...], output: Path, human: Path | None, subset: bool, seed: int, settings: Settings
) -> None:
    """Fit METRIC to REFERENCES, and write the result to a file.

    'cider-d' (also 'cider' and 'spider') writes document frequencies, for --idf; with them, scores are comparable
    across sets of images. 'smurf' writes its standardization constants, for smurf:constants=FILE. 'chair' writes the
    objects in images, for --objects: give COCO instances, captions written by people, or both.
    """
    if settings.objects is not None and catalogue.owner(Request.from_text(metric).name) == Chair.name:
        raise ParameterError(
            "--objects cannot be used with captious fit, which writes it",
            help="remove --objects, and give that file as an argument",
        )
    chosen = select_one(metric, with_objects(metric, settings))
    if settings.idf is not None:
        raise ParameterError(
            "--idf cannot be used with captious fit, which computes document frequencies", help="remove --idf"
        )
    if isinstance(chosen, Chair):
        _fit_objects(chosen, files, output)
        return
    if len(files) > 1:
        raise ParameterError(f"{chosen.name} is fitted to one file of references", help="give one file")
    (references,) = files
    table = read_references(references)
    if settings.references_as == "cat":
        table = table.concatenated
    if human is None:
        fitted = chosen.fit_resource(table, seed=seed)
    else:
        from captious.metrics.smurf import Smurf

        if not isinstance(chosen, Smurf):
            raise ParameterError(f"{chosen.name} does not take human captions", help="remove --human, or fit smurf")
        people = read_captions(human, table, subset=subset)
        source = f"{human.name}, with the references {references.name}; {len(people):,} images"
        fitted = chosen.calibrate(people, references.name.partition(".")[0], source)
    if fitted is None:
        fittable = ", ".join(name for name in catalogue.names() if catalogue.get(name).fitted_resource)
        raise ParameterError(f"{chosen.name} cannot be fitted", help=f"metrics that can be fitted: {fittable}")
    fitted.save(output)
    click.echo(f"{output}: {fitted.contents}", err=True)
    warn(single_captions(table))


def _fit_objects(metric: Chair, files: tuple[Path, ...], output: Path) -> None:
    objects = metric.objects_of(files)
    objects.save(output)
    click.echo(f"{output}: {objects.contents}", err=True)
    if empty := sum(not names for names in objects.by_image.values()):
        what = "every object that a caption of them names will count as hallucinated."
        warn([f"{empty:,} of {len(objects):,} images have no objects: {what}"])
