"""Challenge folders of COCO, nocaps and VizWiz-Captions, complete except for the references.

Their texts are in ``challenge_folders/ready``. nocaps has a reference set for each of its domains, and one for all of
them.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from captious.errors import CaptionFileError, ParameterError
from captious.server.challenges.folder import FILE_NAME
from captious.server.challenges.starter import STARTER_METRICS, fill_in, metrics_line, new_folder, slug_line
from captious.server.challenges.starter_words import STARTER

_READY_FOLDER = Path(__file__).parents[1] / "challenge_folders" / "ready"
#: The ready challenges, by name.
READY = tuple(sorted(folder.name for folder in _READY_FOLDER.iterdir() if folder.is_dir()))
#: Their metrics.
READY_METRICS = (*STARTER_METRICS, "spice")

_NOCAPS = {"val": "nocaps_val_4500_captions", "test": "nocaps_test_10600_captions"}
_DOMAINS = ("in-domain", "near-domain", "out-domain")


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
    values = {
        "slug": slug_line(folder.resolve().name),
        "metrics": metrics_line(READY_METRICS),
        "references": _nocaps_sets(),
    }
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


def _nocaps_sets() -> str:
    """The reference sets of nocaps as TOML."""
    lines = []
    for captions, stem in _NOCAPS.items():
        for name in ("overall", *_DOMAINS):
            file = f"references/{stem}{'' if name == 'overall' else f'.{name}'}.json"
            lines += ["[[references]]", f'name = "{name}"', f'captions = "{captions}"', f'file = "{file}"', ""]
    return "\n".join(lines)


def _copy_references(file: Path, target: Path, names: Sequence[str]) -> None:
    """Copy a file of references to the place given by its name."""
    if file.name not in names:
        raise ParameterError(
            f"{file.name} is not a file of this challenge", help=f"rename it to one of {', '.join(names)}"
        )
    try:
        shutil.copyfile(file, target / file.name)
    except OSError as error:
        raise CaptionFileError(f"cannot read {file}", where=error.strerror or "") from error
    if file.stem in _NOCAPS.values():
        for domain in _DOMAINS:
            (target / f"{file.stem}.{domain}.json").write_text(json.dumps(_domain_part(file, domain)))


def _domain_part(file: Path, domain: str) -> dict[str, Any]:
    """The images of a domain of nocaps, and their captions."""
    try:
        data = json.loads(file.read_bytes())
        images = [image for image in data["images"] if image["domain"] == domain]
        ids = {image["id"] for image in images}
        annotations = [row for row in data["annotations"] if row["image_id"] in ids]
    except (ValueError, LookupError, TypeError) as error:
        raise CaptionFileError(
            f"{file} is not a file of nocaps", where=f"{type(error).__name__}: {error}", help=_DOMAIN_HELP
        ) from error
    if not images:
        raise CaptionFileError(f"{file} has no image of the domain {domain}", help=_DOMAIN_HELP)
    return {**data, "images": images, "annotations": annotations}


_DOMAIN_HELP = 'its images need "domain": "in-domain", "near-domain" or "out-domain"'
