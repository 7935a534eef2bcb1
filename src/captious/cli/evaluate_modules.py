"""captious evaluate-modules: write modules for Hugging Face evaluate."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.library_options import FILE
from captious.compat.evaluate_modules import write_modules


@click.command()
@click.argument("folder", type=FILE, metavar="DIR")
def evaluate_modules(folder: Path) -> None:
    """Write a module for Hugging Face evaluate into DIR for every metric.

    evaluate.load("DIR/captious_cider_d") then loads one, without a network. Existing modules are replaced. The paths of
    the modules go to stdout.
    """
    for module in write_modules(folder):
        click.echo(module)
