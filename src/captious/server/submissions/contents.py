"""The contents of an upload: its captions files, found by name, unpacked and checked, without access to files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os.path import splitext

from captious.data.ids import ImageId
from captious.data.reading.file_contents import FORMATS
from captious.server.submissions.archive import assign, is_archive, read_entries, unpack, unpack_gzip
from captious.server.submissions.captions_file import read_captions
from captious.server.submissions.upload import ExpectedFile, Problem, UploadLimits, amount, printable


def read_contents(
    data: bytes,
    filename: str,
    expected_files: Sequence[ExpectedFile],
    ids: Mapping[str, Sequence[ImageId]],
    limits: UploadLimits,
) -> tuple[dict[str, bytes], list[Problem]]:
    """Every captions file as COCO results in the order of the expected images, and all problems.

    Args:
        filename: name of the upload, which determines its format.
        ids: name of a captions file -> the ids of its images.

    Returns:
        UTF-8 JSON by name of the captions file, for all of them if there are no problems.

    Raises:
        MemoryError: the upload needs too much memory.
    """
    file = printable(filename)
    if len(data) > limits.upload_bytes:
        return {}, [Problem(file, f"The file is larger than {amount(limits.upload_bytes)}.")]
    if not data:
        return {}, [Problem(file, "The file is empty.")]
    name = filename.lower()
    if name.endswith(".zip"):
        return _from_zip(data, file, expected_files, ids, limits)
    if len(expected_files) > 1:
        files = ", ".join(captions.pattern for captions in expected_files)
        return {}, [
            Problem(file, f"The challenge expects {len(expected_files)} files; upload a zip file with {files}.")
        ]
    content: bytes | bytearray | Problem = data
    if name.endswith(".gz"):
        content = unpack_gzip(data, file, limits)
        name = name.removesuffix(".gz")
    if isinstance(content, Problem):
        return {}, [content]
    rows, problems = _read_file(content, name, file, ids[expected_files[0].name], limits, in_archive=False)
    return {} if problems else {expected_files[0].name: rows}, problems


def _from_zip(
    data: bytes,
    file: str,
    expected_files: Sequence[ExpectedFile],
    ids: Mapping[str, Sequence[ImageId]],
    limits: UploadLimits,
) -> tuple[dict[str, bytes], list[Problem]]:
    entries, faults = read_entries(data, file, limits)
    if faults and not entries:
        return {}, faults
    entry_of, problems = assign(entries, expected_files, file)
    if faults:  # contents of such an archive stay packed
        faulty = {fault.file for fault in faults}
        return {}, faults + [problem for problem in problems if problem.file == file or problem.file not in faulty]
    files: dict[str, bytes] = {}
    for captions, entry in entry_of.items():
        name = printable(entry.name)
        content = unpack(data, entry)
        if isinstance(content, Problem):
            problems.append(content)
            continue
        files[captions], file_problems = _read_file(
            content, entry.name.lower(), name, ids[captions], limits, in_archive=True
        )
        problems += file_problems
    return {} if problems else files, problems


def _read_file(
    content: bytes | bytearray, name: str, file: str, ids: Sequence[ImageId], limits: UploadLimits, *, in_archive: bool
) -> tuple[bytes, list[Problem]]:
    """Read one captions file as COCO results; `name` in lower case determines the format, problems call it `file`."""
    if not content:
        return b"", [Problem(file, "The file is empty.")]
    if is_archive(content):
        return b"", [
            Problem(file, "The file is an archive or compressed, despite its name; upload the plain captions file.")
        ]
    format = FORMATS.get(splitext(name)[1])
    if format is None or format == "parquet":
        *extensions, last_extension = (extension for extension in FORMATS if extension != ".parquet")
        endings = f"{', '.join(extensions)} or {last_extension}"
        alternatives = "" if in_archive else ", each also with .gz, or in .zip"
        return b"", [Problem(file, f"The name of the file must end in {endings}{alternatives}.")]
    captions, problems = read_captions(content, file, format, ids, limits)
    if problems:
        return b"", problems
    rows = [{"image_id": image, "caption": caption} for image, caption in zip(ids, captions, strict=True)]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode(), []
