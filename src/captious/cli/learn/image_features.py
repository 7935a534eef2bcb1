"""captious learn image-features: compute the features of images."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.library_options import FILE
from captious.cli.options import output_file
from captious.models.image_features import EFFICIENTNET, IMAGE_FEATURE_FORMATS, check_image_feature_file
from captious.words import counted


@click.command()
@click.argument("folder", type=FILE, metavar="DIR")
@click.option(
    "--model",
    default=EFFICIENTNET,
    show_default=True,
    metavar="NAME|DIR",
    help=f"Vision model: {EFFICIENTNET}, the name of another on the Hugging Face hub, or a folder.",
)
@output_file(help=f"Output file, written atomically: {', '.join(IMAGE_FEATURE_FORMATS)}.")
def image_features(folder: Path, model: str, output: Path) -> None:
    """Compute the features of all images in DIR with a vision model.

    The output has a vector for each image, under the name of its file, which stands for its id. Pass it to leic with
    --images.
    """
    check_image_feature_file(output)
    from captious.models import image_features as vision

    features = vision.image_features(folder, model)
    features.save(output)
    click.echo(
        f"{output}: {counted(len(features), 'image')}, {counted(features.width, 'feature')} of {features.label}",
        err=True,
    )
