"""captious run: run a program with the toolkits that it imports replaced."""

from __future__ import annotations

import os
import sys

import click

from captious.compat.redirection import DEFAULTS
from captious.compat.running import command

__all__ = ["run"]


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("-m", "is_module", is_flag=True, help="SCRIPT is the name of a module, as after python -m.")
@click.option(
    "--replace",
    "prefixes",
    multiple=True,
    metavar="NAME",
    help="The toolkit as the program imports it, such as nlgeval.pycocoevalcap, or NAME=TOOLKIT, such as "
    f"metrics=evaluation. May be repeated. Default: {', '.join(DEFAULTS)}.",
)
def run(script: str, arguments: tuple[str, ...], is_module: bool, prefixes: tuple[str, ...]) -> None:
    """Run a Python SCRIPT with its ARGUMENTS; what it imports from pycocoevalcap comes from captious.

    That holds for the processes that it starts, too. The script itself is not changed.
    """
    line, environment = command(script, arguments, is_module=is_module, prefixes=prefixes or DEFAULTS)
    sys.stdout.flush()
    os.execve(line[0], line, environment)
