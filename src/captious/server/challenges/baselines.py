"""Whether baselines can be submitted: they are read as uploads are, before anything is loaded."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from captious.data import ImageId
from captious.data.source import images
from captious.server.challenges.definition import ChallengeDefinition
from captious.server.submissions.upload import ExpectedFile, Problem, UploadLimits
from captious.server.submissions.upload_process import read_upload


def baseline_problems(
    path: Path,
    phases: Sequence[str],
    definition: ChallengeDefinition,
    image_ids: Mapping[str, Sequence[ImageId]],
    limits: UploadLimits,
) -> Iterator[str]:
    """Why phases would refuse a baseline, a sentence each.

    Args:
        path: its file.
        phases: names of those where it is submitted.
        image_ids: captions file -> the images that it has to describe; none if its references are wrong.
        limits: of uploads. Baselines may be constant, and their captions may have any number of words.

    Raises:
        CaptiousError: it cannot be read for reasons of the machine.
    """
    accepted = [*dict.fromkeys(tuple(definition.phase(phase).captions) for phase in phases)]
    if path.suffix.lower() != ".zip":
        several = next((captions for captions in accepted if len(captions) > 1), None)
        if several is not None:
            yield f"must be a zip file with {', '.join(several)}, which its phases take"
            return
        if len(accepted) > 1:
            yield "its phases take different captions files; give a baseline for each"
            return
    for names in accepted:
        if not all(image_ids[name] for name in names):
            continue
        patterns = {captions.name: captions.pattern for captions in definition.captions if captions.name in names}
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            expected = [ExpectedFile(name, pattern, folder / f"{name}.ids") for name, pattern in patterns.items()]
            for file in expected:
                file.ids_file.write_text(json.dumps(image_ids[file.name]))
            for problem in read_upload(path, path.name, expected, limits.of_baselines, folder / "captions"):
                yield _sentence(problem, path.name)


def _sentence(problem: Problem, name: str) -> str:
    file = "" if problem.file == name else f"{problem.file}: "
    ids = f" ({images(problem.ids)}{', ...' if problem.n > len(problem.ids) else ''})" if problem.ids else ""
    return f"{file}{problem.message.removesuffix('.')}{ids}"
