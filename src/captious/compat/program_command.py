"""Running a program with the toolkits that it imports replaced, in the program and in every process that it starts.

``command`` gives the command line and the environment: Python looks for ``sitecustomize`` when it starts, finds the
one in ``startup/`` first, and that one installs the replacements before the program runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from captious.compat.redirection import DEFAULTS, install, replacement_of

__all__ = ["VARIABLE", "command", "install_from_environment"]

#: The environment variable that names the prefixes, separated by commas; ``name=toolkit`` for one of another name.
VARIABLE = "CAPTIOUS_COMPAT"
_STARTUP = Path(__file__).parent / "startup"


def command(
    script: str,
    arguments: Sequence[str] = (),
    *,
    is_module: bool = False,
    prefixes: Sequence[str] = DEFAULTS,
    environment: Mapping[str, str] | None = None,
) -> tuple[list[str], dict[str, str]]:
    """The command that runs a script with toolkits replaced, and its environment.

    Args:
        script: path of a Python program.
        arguments: of the script.
        is_module: the script is the name of a module, as after ``python -m``.
        prefixes: the toolkits, as ``install`` takes them; ``name=toolkit`` for one of another name.
        environment: variables of the process; None for those of this one.

    Raises:
        ParameterError: a toolkit that captious does not replace.
    """
    for prefix in prefixes:
        replacement_of(*_split(prefix))
    environment = dict(os.environ if environment is None else environment)
    environment[VARIABLE] = ",".join(prefixes)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_STARTUP), environment.get("PYTHONPATH", "")]))
    # Not -P: as with python itself, the program's own folder comes first.
    return [sys.executable, *(("-m",) if is_module else ()), script, *arguments], environment


def install_from_environment() -> None:
    """Install what the environment variable names; called when Python starts."""
    for prefix in filter(None, os.environ.get(VARIABLE, "").split(",")):
        name, toolkit = _split(prefix)
        install(name, toolkit=toolkit)


def _split(prefix: str) -> tuple[str, str | None]:
    """The name of a toolkit in a program, and which toolkit it is, None if the name says so."""
    name, separator, toolkit = prefix.partition("=")
    return name, toolkit if separator else None
