"""captious run: run a program with its imported toolkits replaced."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from captious.cli.library_options import DocumentedCommand, option
from captious.compat import programs


# Options after the program belong to the program. Where it begins is looked for without the group, which has -h, too.
@click.command(
    cls=DocumentedCommand,
    context_settings={"allow_interspersed_args": False, "help_option_names": ["-h", "--help"]},
)
@click.argument("script", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@option("is_module", flags=("-m",))
@option("prefixes", flags=("--replace",), multiple=True, metavar="NAME")
@option("whole")
@option("log", click.Path(dir_okay=False))
@option("environment")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks of captious, not of the script.")
def run(
    script: str | None,
    arguments: tuple[str, ...],
    is_module: bool = False,
    prefixes: tuple[str, ...] = (),
    whole: bool = False,
    log: str | None = None,
    environment: bool = False,
) -> None:
    """Run a SCRIPT with its ARGUMENTS, with captious in place of pycocoevalcap.

    SCRIPT is a Python program, a shell script or a command, such as bash; the processes that it starts are included.
    Copies of the toolkit under other names are recognized: their scorers and tokenizers are replaced. At the end, a
    message on standard error lists what was replaced and what was not. Options after SCRIPT are ARGUMENTS.

    Args:
        is_module: SCRIPT is the name of a module, as after python -m.
        prefixes: a toolkit that is not recognized, as the program imports it, such as nlgeval.pycocoevalcap, or
            NAME=TOOLKIT, such as metrics=evaluation. All of it is replaced.
        whole: replace pycocoevalcap and pyciderevalcap as a whole, even the program's own, and no other copies.
        log: write what was replaced to this JSON file.
        environment: run nothing; print variables that do the same for later programs: eval "$(captious run
            --environment)".
    """
    if environment:
        if script is not None or log is not None:
            raise click.UsageError("--environment runs nothing: give neither SCRIPT nor --log")
        click.echo("\n".join(programs.exports(programs.environment(prefixes, whole=whole))))
        return
    if script is None:
        raise click.UsageError("Missing argument 'SCRIPT'.")
    sys.stdout.flush()
    line = programs.command(script, arguments, is_module=is_module)
    sys.exit(programs.run(line, prefixes=prefixes, whole=whole, log=log))


def program_start(arguments: Sequence[str]) -> int:
    """Return the position of the program among the arguments of this command."""
    values = run.make_context("run", [*arguments], resilient_parsing=True).params
    return len(arguments) - (values["script"] is not None) - len(values["arguments"] or ())
