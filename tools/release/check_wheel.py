"""Checks what is in the wheels and the sdist of a release.

    python tools/release/check_wheel.py dist/captious*

A wheel of captious holds the package with its kernels, data files and license, one of captious-server its templates,
styles and challenges; neither holds sources of kernels or tests. The wheel that the sdist builds holds the same files:
give both wheels. Exit status 1 and a line for each problem otherwise.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

LARGEST_WHEEL = 16_000_000  # the weights for two languages are most of it
LARGEST_SDIST = 24_000_000
IN_WHEEL = (
    r"captious/__init__\.pyi?",
    r"captious/py\.typed",
    r"captious/native/_kernels\.(\S+\.)?so",
    r"captious/resources/bundled\.grammar",
    r"captious/resources/coco-val\.idf",
    r"captious/learned/weights/concur\.safetensors",
    r"captious-[\d.a-z]+\.dist-info/licenses/LICENSE",
    r"captious-[\d.a-z]+\.dist-info/entry_points\.txt",
)
#: Of captious-server, whose files are in packages of other names.
IN_WHEEL_OF_SERVER = (
    r"captious_server/__init__\.py",
    r"captious_server/py\.typed",
    r"captious_server/migrations/0001_\w+\.py",
    r"captious_server/formats/en/formats\.py",
    r"captious_server/templates/captious/base\.html",
    r"captious_server/static/captious/style\.css",
    r"captious_server/challenge_folders/demo/challenge\.toml",
    r"captious_server/challenge_folders/starter/overview\.md",
    r"captious_server-[\d.a-z]+\.dist-info/licenses/LICENSE",
    r"captious_server-[\d.a-z]+\.dist-info/entry_points\.txt",
)
#: Markdown is documentation, but for the texts of the challenges that the server brings.
NOT_IN_WHEEL = (
    r"\.(cpp|hpp|lex|inc|c|h|o|a)$|CMakeLists\.txt$|^(?!captious_server/challenge_folders/).*\.md$|(^|/)tests?/|\.git"
)
IN_SDIST = (
    *("LICENSE", "README.md", "pyproject.toml", "CMakeLists.txt"),
    *("src/captious/native/module.cpp", "tools/lexgen/main.cpp"),
)
IN_SDIST_OF_SERVER = ("LICENSE", "README.md", "pyproject.toml", "src/captious_server/__init__.py")


def is_of_server(path: Path) -> bool:
    """Return whether a file is a wheel or an sdist of captious-server."""
    return path.name.startswith("captious_server-")


def problems_of_names(names: Iterable[str], *, of_server: bool = False) -> list[str]:
    """Return what is wrong with the names of the files of a wheel of captious, or of captious-server."""
    names = list(names)
    patterns, package = (IN_WHEEL_OF_SERVER, "captious_server") if of_server else (IN_WHEEL, "captious")
    problems = [f"lacks {pattern}" for pattern in patterns if not any(re.fullmatch(pattern, name) for name in names)]
    problems += [f"holds {name}" for name in names if re.search(NOT_IN_WHEEL, name)]
    outside = [name for name in names if not re.match(f"{package}[/-]", name)]
    return problems + [f"holds {name}, outside of the package" for name in outside]


def problems_of_wheel(path: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    with zipfile.ZipFile(path) as wheel:
        problems = problems_of_names(wheel.namelist(), of_server=is_of_server(path))
    size = path.stat().st_size
    return problems + ([f"has {size:,} bytes, more than {LARGEST_WHEEL:,}"] if size > LARGEST_WHEEL else [])


def problems_of_sdist(path: Path) -> list[str]:
    """Return what is wrong with an sdist."""
    with tarfile.open(path) as sdist:
        names = {member.name.partition("/")[2] for member in sdist}
    needed = IN_SDIST_OF_SERVER if is_of_server(path) else IN_SDIST
    problems = [f"lacks {name}" for name in needed if name not in names]
    problems += [
        f"holds {name}" for name in names if re.search(r"\.so$|__pycache__|^build/|^dist/|/\.hypothesis", name)
    ]
    size = path.stat().st_size
    return problems + ([f"has {size:,} bytes, more than {LARGEST_SDIST:,}"] if size > LARGEST_SDIST else [])


def contents(path: Path) -> dict[str, str]:
    """Checksums of the files of a wheel, but for the kernels, which hold the paths of their build, and the record."""
    with zipfile.ZipFile(path) as wheel:
        return {
            name: "" if re.search(r"/_kernels\.|/RECORD$", name) else hashlib.sha256(wheel.read(name)).hexdigest()
            for name in wheel.namelist()
        }


def main(paths: list[Path]) -> int:
    wheels: dict[str, Path] = {}
    problems = []
    for path in paths:
        found = problems_of_wheel(path) if path.suffix == ".whl" else problems_of_sdist(path)
        problems += [f"{path.name}: {problem}" for problem in found]
        if path.suffix == ".whl":
            other = wheels.setdefault(path.name, path)
            here, names = contents(path), contents(other)
            different = sorted(name for name in here.keys() | names.keys() if here.get(name) != names.get(name))
            problems += [f"{path}: {name} is not as in {other}" for name in different]
        print(f"{path}: {path.stat().st_size:,} bytes")
    print("\n".join(problems) or "no problems")
    return 1 if problems or not paths else 0


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
