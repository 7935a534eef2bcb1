"""The files of a bundle of Codabench, CodaLab or EvalAI: a zip file, its folder, or the YAML file in it."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import yaml

from captious.errors import InputError

CODABENCH, EVALAI = ("competition.yaml", "competition.yml"), ("challenge_config.yaml", "challenge_config.yml")
_MAX_BYTES = 4 << 30


class _Loader(yaml.SafeLoader):
    """A loader of plain values, which gives the place of an impossible date."""

    def construct_yaml_timestamp(self, node: yaml.ScalarNode) -> Any:
        try:
            return super().construct_yaml_timestamp(node)
        except ValueError as error:
            problem = f"{node.value} is not a date: {error}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_timestamp)


def open_bundle(bundle: Path, scratch: Path) -> tuple[Path, dict[str, Any]]:
    """The YAML file of a bundle, next to the other files, and its contents."""
    names = (*CODABENCH, *EVALAI)
    if not bundle.exists():
        raise InputError(f"cannot read {bundle}", where="there is no such file")
    try:
        folder = bundle if bundle.is_dir() else bundle.parent
        if bundle.is_file() and zipfile.is_zipfile(bundle):
            folder = scratch / "bundle"
            unpack(bundle, folder)
        paths = [path for name in names for path in (*folder.glob(name), *folder.glob(f"*/{name}"))]
        if bundle.is_file() and folder == bundle.parent:
            paths = [bundle] if bundle.name in names else []
        if not paths:
            raise InputError(
                f"{bundle} is not a bundle",
                help=f"give a zip file or folder with {CODABENCH[0]} (Codabench) or {EVALAI[0]} (EvalAI)",
            )
        with paths[0].open("rb") as file:
            values = yaml.load(file, _Loader)
    except (OSError, zipfile.BadZipFile, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"cannot read {bundle}", where=" ".join(str(error).split())) from error
    if not isinstance(values, dict):
        raise InputError(f"{bundle} is not a bundle", where=f"{paths[0].name} has no keys")
    return paths[0], values


def unpack(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as zip_file:
        if sum(info.file_size for info in zip_file.infolist()) > _MAX_BYTES:
            raise InputError(f"{archive} unpacks to more than 4 GiB", help="unpack it and give the folder")
        zip_file.extractall(target)
