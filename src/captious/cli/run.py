"""captious run: run a program with the toolkits that it imports replaced."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from captious.compat.program_command import command
from captious.compat.redirection import DEFAULTS

__all__ = ["program_start", "run"]


@click.command(context_settings={"allow_interspersed_args": False})  # options after the program belong to the program
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
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks of captious, not of the script.")
def run(script: str, arguments: tuple[str, ...], is_module: bool, prefixes: tuple[str, ...]) -> None:
    """Run a Python SCRIPT with its ARGUMENTS; what it imports from pycocoevalcap comes from captious.

    That holds for the processes that it starts, too. The script itself is not changed. Options after SCRIPT are
    ARGUMENTS.
    """
    line, environment = command(script, arguments, is_module=is_module, prefixes=prefixes or DEFAULTS)
    sys.stdout.flush()
    os.execve(line[0], line, environment)


def program_start(arguments: Sequence[str]) -> int:
    """The position of the program among the arguments of this command."""
    values = run.make_context("run", [*arguments], resilient_parsing=True).params
    return len(arguments) - (values["script"] is not None) - len(values["arguments"] or ())
