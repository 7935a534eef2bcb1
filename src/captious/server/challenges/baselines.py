"""Validation of baselines, which are read as uploads are before anything is loaded.

Results are cached by content, so that saving a draft does not read all its baselines again.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from captious.data import ImageId
from captious.data.reading.source import image_list
from captious.server.challenges.definition import ChallengeDefinition
from captious.server.submissions.upload import ExpectedFile, Problem, UploadLimits
from captious.server.submissions.upload_process import read_upload

_CACHE_SIZE = 500  # cached results
_cached_problems: dict[str, tuple[str, ...]] = {}


def baseline_problems(
    path: Path,
    phases: Sequence[str],
    definition: ChallengeDefinition,
    image_ids: Mapping[str, Sequence[ImageId]],
    limits: UploadLimits,
) -> Iterator[str]:
    """The reasons why phases would refuse a baseline, a sentence each.

    Args:
        path: file of the baseline.
        phases: names of the phases where it is submitted.
        image_ids: captions file -> its required images; missing if its references are wrong.
        limits: limits of uploads. Baselines may be constant, with captions of any number of words.

    Raises:
        CaptiousError: it cannot be read because of the machine.
    """
    captions_lists = [*dict.fromkeys(tuple(definition.phase(phase).captions) for phase in phases)]
    if path.suffix.lower() != ".zip":
        captions = next((captions for captions in captions_lists if len(captions) > 1), None)
        if captions is not None:
            yield f"must be a zip file with {', '.join(captions)}, which its phases take"
            return
        if len(captions_lists) > 1:
            yield "its phases take different captions files; add a baseline for each"
            return
    problems: dict[tuple[str, ...], tuple[str, ...]] = {}
    for names in captions_lists:
        if not all(image_ids[name] for name in names):
            continue
        patterns = {captions.name: captions.pattern for captions in definition.captions if captions.name in names}
        ids = {name: json.dumps(image_ids[name]) for name in patterns}
        problems[names] = _problems(path, patterns, ids, limits.of_baselines)
    hint = "" if all(problems.values()) else ". Name the phases that it is for"
    for names, phase_problems in problems.items():
        where = ", ".join(phase for phase in phases if tuple(definition.phase(phase).captions) == names)
        if len(captions_lists) == 1:
            yield from phase_problems
        elif phase_problems:
            yield f"{where} would refuse it: {'; '.join(phase_problems)}{hint}"


def _problems(path: Path, patterns: Mapping[str, str], ids: Mapping[str, str], limits: UploadLimits) -> tuple[str, ...]:
    """The problems that a baseline has as an upload. Its file is read only once.

    Args:
        patterns, ids: captions file -> the pattern of its name, and its image ids as JSON.
    """
    with path.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").hexdigest()
    cache_input = json.dumps([content, path.name, dict(patterns), dict(ids), asdict(limits)])
    key = hashlib.sha256(cache_input.encode()).hexdigest()
    sentences = _cached_problems.get(key)
    if sentences is None:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            files = [ExpectedFile(name, pattern, folder / f"{name}.ids") for name, pattern in patterns.items()]
            for file in files:
                file.ids_file.write_text(ids[file.name])
            problems = read_upload(path, path.name, files, limits, folder / "captions")
        sentences = tuple(_sentence(problem, path.name) for problem in problems)
        if len(_cached_problems) >= _CACHE_SIZE:
            _cached_problems.clear()
        _cached_problems[key] = sentences
    return sentences


def _sentence(problem: Problem, name: str) -> str:
    file = "" if problem.file == name else f"{problem.file}: "
    ids = f" ({image_list(problem.ids)}{', ...' if problem.n > len(problem.ids) else ''})" if problem.ids else ""
    return f"{file}{problem.message.removesuffix('.')}{ids}"
