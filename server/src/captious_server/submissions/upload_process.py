"""Reading uploads in a separate process, which limits its memory, time and files first.

``read_upload`` runs this module with ``python -P -m``, and sends it a job. The answer is JSON: a hostile file may have
been read. Of the server's environment the process sees only what Python needs to start.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Any

from captious.data.ids import ImageId
from captious.errors import CaptiousError, OutputError
from captious.files import whole_file
from captious_server.submissions.reading import read_contents
from captious_server.submissions.upload import ExpectedFile, Problem, UploadLimits, amount, printable

_log = logging.getLogger(__name__)

#: What Python needs to start and to find this module.
_ENVIRONMENT_NAMES = ("LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "SYSTEMROOT", "VIRTUAL_ENV")
_MAX_OPEN_FILES = 32


def read_upload(
    path: Path, filename: str, expected_files: Sequence[ExpectedFile], limits: UploadLimits, output: Path
) -> list[Problem]:
    """Read an upload, and write its captions as COCO results if they are valid.

    Args:
        path: the uploaded file.
        filename: the uploader's name of the file; its extension determines the format.
        expected_files: the captions files of the challenge.
        limits: limits of the reading.
        output: folder for ``<name>.json`` of every expected file, with the captions in the order of the expected ids.
            What it holds is complete if there are no problems.

    Returns:
        All problems of the upload.

    Raises:
        OutputError: the captions cannot be written.
        CaptiousError: the reading failed for another reason that is not the uploader's fault.
    """
    size = path.stat().st_size
    if size > limits.upload_bytes:
        return [Problem(printable(filename), f"The file is larger than {amount(limits.upload_bytes)}.")]
    return _read_in_child(path, filename, expected_files, limits.of_size(size), output)


def _read_in_child(
    path: Path, filename: str, expected_files: Sequence[ExpectedFile], limits: UploadLimits, output: Path
) -> list[Problem]:
    job = pickle.dumps((path, filename, [*expected_files], limits, output))
    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "captious_server.submissions.upload_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
    except OSError as error:
        raise CaptiousError("the process that reads uploads cannot be started", where=error.strerror or "") from error
    try:
        answer, stderr = child.communicate(job, timeout=limits.wall_seconds)
    except BaseException as error:
        if child.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            return [_too_slow(printable(filename), limits.wall_seconds)]
        raise
    return _problems_from(child.returncode, answer, stderr, printable(filename), limits)


def _environment() -> dict[str, str]:
    values = {name: os.environ[name] for name in _ENVIRONMENT_NAMES if name in os.environ}
    return {**values, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}


def _problems_from(status: int, answer: bytes, stderr: bytes, file: str, limits: UploadLimits) -> list[Problem]:
    """The problems reported by the process, or its failure."""
    if status == 0:
        response = json.loads(answer)
        if isinstance(response, dict):
            raise OutputError("the captions of an upload cannot be stored", **response)
        return [Problem.from_dict(problem) for problem in response]
    if status == -signal.SIGXCPU:
        return [_too_slow(file, limits.seconds)]
    if status == -signal.SIGKILL or b"MemoryError" in stderr:
        return [Problem(file, f"The file needs more than {amount(limits.memory_bytes)} of memory to read.")]
    _log.error("reading an upload ended with status %d: %s", status, stderr.decode(errors="replace")[-4000:])
    if status < 0:
        return [Problem(file, "The file cannot be read: it crashed the program that reads uploads.")]
    raise CaptiousError("the process that reads uploads failed", hint="see the log of the server")


def _too_slow(file: str, seconds: int) -> Problem:
    s = "" if seconds == 1 else "s"
    return Problem(file, f"The file takes longer than {seconds:,} second{s} to read.", is_slow=True)


# The rest of the module runs in the reading process.


def _main() -> None:
    """Answer one job: with the list of problems or, if captions cannot be written, the reason."""
    path, filename, expected_files, limits, output = pickle.load(sys.stdin.buffer)
    _limit(limits)
    answer: list[dict[str, Any]] | dict[str, str]
    try:
        answer = [problem.to_dict() for problem in _read_job(path, filename, expected_files, limits, output)]
    except OutputError as error:
        answer = {"where": error.where, "hint": error.hint}
    json.dump(answer, sys.stdout)


def _limit(limits: UploadLimits) -> None:
    """Limit the resources of this process; lower limits stay."""
    seconds = max(1, ceil(limits.seconds))
    for kind, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES, _MAX_OPEN_FILES),
        (resource.RLIMIT_FSIZE, limits.memory_bytes, limits.memory_bytes),  # files are written from memory
        (resource.RLIMIT_CPU, seconds, seconds + 5),
        (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
    ):
        _, ceiling = resource.getrlimit(kind)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        if sys.platform == "darwin" and kind == resource.RLIMIT_AS:
            continue  # macOS does not limit address space
        resource.setrlimit(kind, (soft, hard))


def _read_job(
    path: Path, filename: str, expected_files: Sequence[ExpectedFile], limits: UploadLimits, output: Path
) -> list[Problem]:
    ids = {captions.name: _ids(captions.ids_file) for captions in expected_files}
    files, problems = read_contents(path.read_bytes(), filename, expected_files, ids, limits)
    for name, content in files.items():
        with whole_file(output / f"{name}.json", "wb") as file:
            file.write(content)
    return problems


def _ids(path: Path) -> list[ImageId]:
    ids = json.loads(path.read_bytes())
    if not isinstance(ids, list) or not all(type(image) in (int, str) for image in ids):
        raise ValueError("not a list of integers and strings")
    return ids


if __name__ == "__main__":
    _main()
