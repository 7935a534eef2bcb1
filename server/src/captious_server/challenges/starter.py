"""New challenge folders: a starter, the demonstration, and those of COCO, nocaps and VizWiz-Captions."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from captious.data import References, read_references
from captious.errors import CaptionFileError, OutputError, ParameterError
from captious.files import advice
from captious_server.challenges.definition import installed_metrics, lacking_metrics
from captious_server.challenges.folder import FILE_NAME, SLUG, STARTER

# New challenge folders: a starter, with comments on what to change, and the demonstration.
#
# Their texts are in ``challenge_folders``. In the demonstration, the first of five captions of an image is the
# human baseline and the other four are the references, so that no caption is among its own references.

#: The metrics that a new challenge starts with.
STARTER_METRICS = ("bleu", "meteor", "rouge-l", "cider-d")
#: The demonstration, except for its organizers and metrics. Its images are among the static files of the site.
DEMO = Path(__file__).parents[1] / "challenge_folders" / "demo"


def write_starter(folder: Path, *references: Path) -> list[str]:
    """Make the folder of a new challenge: challenge.toml, overview.md, rules.md and copies of the references.

    Args:
        folder: a folder that does not exist yet, or an empty one.
        references: a file that ``captious.read_references`` reads, or one for a public and one for a private phase.

    Returns:
        The files, by their paths in the folder.

    Raises:
        OutputError: the folder is not empty, or cannot be written; nothing is left behind.
        InputError: the references cannot be read.
        ParameterError: two files have the same name.
    """
    data = [read_references(file) for file in references]
    files = [f"references/{_as_text(file.name)}" for file in references] or ["references/c5.json"]
    if len({*files}) < len(files):
        raise ParameterError("the files of references have the same name", hint="rename one of them")
    name = _as_text(folder.resolve().name)
    values = {
        "title": toml(_title(name)),
        "slug": slug_line(name),
        "metrics": metrics_line(STARTER_METRICS),
        "name": toml(_set_name(data[0] if data else None)),
        "file": toml(files[0]),
        "private_name": toml(_set_name(data[-1] if data else None)),
        "private_file": toml(files[-1]),
        "reminder": "" if data else "  # put the references there",
        "images": f", {sum(map(len, data)):,} in all" if data else "",
        "image_id": toml(data[0].ids[0]) if data else "42",
    }
    texts = [FILE_NAME, "overview.md", "rules.md"]
    with new_folder(folder) as target:
        for text in texts:
            shutil.copyfile(STARTER / text, target / text)
        if len(references) > 1:
            _give_two_phases(target / FILE_NAME)
        for text in texts:
            fill_in(target / text, values)
        (target / "references").mkdir()
        for source, file in zip(references, files, strict=False):
            shutil.copyfile(source, target / file)
    return [*texts, *(files if references else [])]


def _give_two_phases(file: Path) -> None:
    """Replace the captions, references and phases of a starter by those of a public and a private phase."""
    text = file.read_text(encoding="utf-8")
    first, last = text.index("[[captions]]"), text.index("# [[baselines]]")
    phases = (STARTER / "two_phases.toml").read_text(encoding="utf-8")
    file.write_text(text[:first] + phases + text[last:], encoding="utf-8")


def write_demo(folder: Path, organizers: Sequence[str] = ()) -> None:
    """Make the folder of the challenge "demo", with these users as organizers.

    Raises:
        OutputError: the folder is not empty, or cannot be written.
    """
    with new_folder(folder) as target:
        for source in DEMO.rglob("*.*"):
            copy = target / source.relative_to(DEMO)
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(source, copy)
        fill_in(target / FILE_NAME, {"organizers": toml([*organizers]), "metrics": metrics_line(STARTER_METRICS)})


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder, whose files are moved to `folder` when the block ends well; otherwise it leaves no trace.

    Raises:
        OutputError: the folder exists and is not empty, or cannot be made.
    """
    try:
        exists = folder.is_dir()
        if folder.exists() and (not exists or any(folder.iterdir())):
            raise OutputError(
                f"{folder} {'is not empty' if exists else 'is a file'}",
                hint="name a folder that does not exist yet, or an empty one",
            )
        parent = (folder if exists else folder.parent).resolve()
        staging = parent / f".captious-{secrets.token_hex(4)}"
        staging.mkdir()
        try:
            yield staging
            if exists:  # may be the current folder of a shell, so it is kept
                _move_all(staging, parent)
            else:
                os.rename(staging, folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise OutputError(
            f"cannot write {folder}",
            where=error.strerror or str(error),
            hint=advice(error) or "name a folder in one that exists and is writable",
        ) from error


def _move_all(source: Path, target: Path) -> None:
    paths: list[Path] = []
    try:
        for path in sorted(source.iterdir()):
            os.rename(path, target / path.name)
            paths.append(target / path.name)
    except BaseException:
        for path in paths:
            os.rename(path, source / path.name)
        raise


def fill_in(file: Path, values: dict[str, str]) -> None:
    """Replace the ``${names}`` in a text."""
    template = Template(file.read_text(encoding="utf-8"))
    file.write_text(template.substitute(values), encoding="utf-8")


def metrics_line(names: Sequence[str]) -> str:
    """A list of metrics as TOML; those that lack something here are in a comment, with the command that installs it."""
    missing = lacking_metrics(names)
    line = toml(installed_metrics(names))
    if not missing:
        return line
    return f"{line}    # add {', '.join(map(toml, chain(*missing.values())))} after: {' && '.join(missing)}"


def toml(value: object) -> str:
    """A string, a number or a list of these as TOML, which writes them like JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _as_text(name: str) -> str:
    """The name of a file, which need not be UTF-8, as text that is."""
    return os.fsencode(name).decode(errors="replace")


def _title(name: str) -> str:
    words = re.sub(r"[-_\s\x00-\x1f\x7f]+", " ", name).strip()
    return words[:200].capitalize() or "Challenge"


def slug_line(name: str) -> str:
    """The line that names the challenge in addresses; empty if the name of its folder does."""
    if SLUG.fullmatch(name):
        return ""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "challenge"
    return f"slug = {toml(slug)}                 # its name in addresses; default: the folder's name\n"


def _set_name(table: References | None) -> str:
    """A name such as c5, after the number of references of an image."""
    if table is None:
        return "c5"
    counts = set(np.diff(table.offsets).tolist())
    return f"c{counts.pop()}" if len(counts) == 1 else "references"


# Challenge folders of COCO, nocaps and VizWiz-Captions, complete except for the references.
#
# Their texts are in ``challenge_folders/ready``. nocaps has a reference set for each of its domains, and one for all of
# them.

_READY_FOLDER = Path(__file__).parents[1] / "challenge_folders" / "ready"
#: The ready challenges, by name.
READY = tuple(sorted(folder.name for folder in _READY_FOLDER.iterdir() if folder.is_dir()))
#: Their metrics.
READY_METRICS = (*STARTER_METRICS, "spice")


def write_ready(folder: Path, name: str, references: Sequence[Path] = ()) -> tuple[list[str], list[str]]:
    """Create the folder of a ready challenge; return its files and those still to be added.

    Args:
        folder: a folder that does not exist yet, or an empty one.
        name: one of ``READY``.
        references: available files of references, under the names used by the challenge. Those of nocaps
            are split by the ``domain`` of their images.

    Raises:
        OutputError: the folder is not empty, or cannot be written; nothing is left behind.
        ParameterError: a file has an unexpected name.
        CaptionFileError: a file of nocaps has no domains.
    """
    values = {"slug": slug_line(folder.resolve().name), "metrics": metrics_line(READY_METRICS)}
    with new_folder(folder) as target:
        shutil.copytree(_READY_FOLDER / name, target, dirs_exist_ok=True)
        shutil.copyfile(STARTER / "rules.md", target / "rules.md")
        fill_in(target / FILE_NAME, values)
        (target / "references").mkdir()
        definition = tomllib.loads((target / FILE_NAME).read_text(encoding="utf-8"))
        paths = [row["file"] for row in definition["references"]]
        for file in references:
            _copy_references(file, target / "references", [Path(path).name for path in paths])
        missing = [path for path in paths if not (target / path).exists()]
        files = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
    return files, missing


def _copy_references(file: Path, target: Path, names: Sequence[str]) -> None:
    """Copy a file of references to the place given by its name."""
    if file.name not in names:
        raise ParameterError(
            f"{file.name} is not a file of this challenge", hint=f"rename it to one of {', '.join(names)}"
        )
    try:
        shutil.copyfile(file, target / file.name)
    except OSError as error:
        raise CaptionFileError(f"cannot read {file}", where=error.strerror or "") from error
    for name in names:
        stem, _, domain = name.removesuffix(".json").partition(".")
        if stem == file.stem and domain:  # of nocaps
            (target / name).write_text(json.dumps(_domain_part(file, domain)))


def _domain_part(file: Path, domain: str) -> dict[str, Any]:
    """The images of a domain of nocaps, and their captions."""
    try:
        data = json.loads(file.read_bytes())
        images = [image for image in data["images"] if image["domain"] == domain]
        ids = {image["id"] for image in images}
        annotations = [row for row in data["annotations"] if row["image_id"] in ids]
    except (ValueError, LookupError, TypeError) as error:
        raise CaptionFileError(
            f"{file} is not a file of nocaps", where=f"{type(error).__name__}: {error}", hint=_DOMAIN_HELP
        ) from error
    if not images:
        raise CaptionFileError(f"{file} has no image of the domain {domain}", hint=_DOMAIN_HELP)
    return {**data, "images": images, "annotations": annotations}


_DOMAIN_HELP = 'its images need "domain": "in-domain", "near-domain" or "out-domain"'
