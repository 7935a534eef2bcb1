"""Running of a program with its imported toolkits replaced, including every process that it starts.

When Python starts, it imports ``sitecustomize`` from ``startup/``, because ``PYTHONPATH`` begins with that folder. Its
``hook`` installs the replacements named in another environment variable when the program imports a toolkit.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from types import FrameType

from captious.compat.hook import COPIES, DEFAULTS, FILE_VARIABLE, VARIABLE, split
from captious.errors import ParameterError

_STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
_SHELLS = {".sh": "bash", ".bash": "bash", ".zsh": "zsh"}
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM")


def run(
    line: Sequence[str],
    *,
    prefixes: Sequence[str] = (),
    whole: bool = False,
    log: str | os.PathLike[str] | None = None,
) -> int:
    """Run a command line, wait for it, and report on standard error what was replaced.

    Args:
        line: the result of ``command``.
        prefixes: toolkits to replace whole, as for ``install``; ``name=toolkit`` for one with another name.
        whole: replace ``pycocoevalcap`` and ``pyciderevalcap`` whole, and no copies under other names.
        log: a file for the report as JSON.

    Returns:
        The exit status: 128 plus the number of the signal for a program ended by one.

    Raises:
        ParameterError: a toolkit that captious does not replace.
        OutputError: the log cannot be written.
    """
    variables = environment(prefixes, whole=whole)
    if log is not None:
        from captious.files import check_place

        check_place(log)
    with tempfile.TemporaryDirectory(prefix="captious-run-") as folder:
        file = os.path.join(folder, "events")
        open(file, "x").close()
        process = subprocess.Popen([*line], env={**variables, FILE_VARIABLE: file})
        from captious.compat import replacement_log  # while the program starts

        status = _status(process)
        events = replacement_log.read(file)
    lines = replacement_log.summary(events, [prefix.partition("=")[0] for prefix in prefixes], copies=not whole)
    for text in lines:
        print(f"captious run: {text}", file=sys.stderr)
    if log is not None:
        from captious.files import whole_file

        with whole_file(log) as output:
            json.dump({"program": [*line], "status": status, "events": events, "summary": lines}, output, indent=2)
            output.write("\n")
    return status


def command(script: str, arguments: Sequence[str] = (), *, is_module: bool = False) -> list[str]:
    """Return the command line that runs a Python program, a shell script or a command.

    Args:
        script: path of a Python program or of a shell script, or the name of a command, such as ``bash``.
        arguments: arguments of the script.
        is_module: the script is the name of a module, as after ``python -m``.

    Raises:
        ParameterError: an unknown command.
    """
    folder, suffix = os.path.dirname(script), os.path.splitext(script)[1]
    # Not -P: as with python itself, the program's own folder comes first.
    if is_module:
        start = [sys.executable, *("-m",)]
    elif os.path.isfile(script) and (suffix in _SHELLS or _is_command(script)):
        start = [] if os.access(script, os.X_OK) else [_SHELLS.get(suffix, "bash")]
        script = script if folder else f".{os.sep}{script}"
    elif suffix not in (".py", ".zip") and not any(map(os.path.isfile, (script, os.path.join(script, "__main__.py")))):
        from shutil import which

        if not which(script):
            raise ParameterError(
                f"there is no program and no command {script!r}",
                hint="give the path of a script, or install the command",
            )
        start = []
    else:
        start = [sys.executable]
    return [*start, script, *arguments]


def environment(prefixes: Sequence[str] = (), *, whole: bool = False) -> dict[str, str]:
    """Return the environment of this process with the two variables that replace toolkits; the arguments are those of
    ``run``.

    Raises:
        ParameterError: a toolkit that captious does not replace.
    """
    if prefixes:
        from captious.compat.redirection import replacement_of

        for prefix in prefixes:
            replacement_of(*split(prefix))
    names = [*(DEFAULTS if whole else (COPIES,)), *prefixes]
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _STARTUP]
    return {**os.environ, VARIABLE: ",".join(names), "PYTHONPATH": os.pathsep.join([_STARTUP, *paths])}


def exports(variables: Mapping[str, str]) -> list[str]:
    """Return the shell lines that set the two variables of an environment for programs started later."""
    import shlex

    inherited = '"${PYTHONPATH:+:$PYTHONPATH}"'
    return [
        f"export {VARIABLE}={shlex.quote(variables[VARIABLE])}",
        f"export PYTHONPATH={shlex.quote(_STARTUP)}{inherited}",
    ]


def _is_command(path: str) -> bool:
    """Return whether a file is a program of its own: compiled, or a script for another interpreter than Python."""
    with open(path, "rb") as file:
        first = file.readline(200)
    if first.startswith(b"#!"):
        words = first[2:].decode("utf-8", "replace").split()
        program = next((word for word in words if not word.endswith("/env") and not word.startswith("-")), "")
        return not os.path.basename(program).startswith("python")
    return not path.endswith(".py") and b"\0" in first


def _status(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process, and forward signals to it.

    A terminal sends an interrupt to both processes; this one waits for the other to handle it.
    """

    def forward(number: int, frame: FrameType | None) -> None:
        process.send_signal(number)

    numbers = {getattr(signal, name): forward for name in _FORWARDED}
    before = {number: signal.signal(number, handler) for number, handler in numbers.items()}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN if sys.stdin.isatty() else forward)
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 - status if status < 0 else status
