"""Makes the pictures of docs/pictures/ again, with the commands of docs/gallery.md.

    python tools/gallery/make.py [PICTURE...]

It runs the page's commands in a scratch folder that has `examples/`, `tools/` and, by the names that the page uses,
files of the shared data, and copies the pictures. With names, such as `metrics.png`, it runs only their blocks.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT))

from PIL import Image  # noqa: E402

from tests.docs.blocks import commands  # noqa: E402
from tests.docs.pages import scratch_folder  # noqa: E402
from tests.support.shared_data import DATA  # noqa: E402
from tools.gallery.dark import write_dark  # noqa: E402

_BLOCK = re.compile(r"^```console\n(?P<commands>.*?)^```\n(?P<pictures>.*?)(?=^```console|^#|\Z)", re.M | re.S)


def main(wanted: set[str]) -> None:
    pictures = PROJECT / "docs" / "pictures"
    page = (PROJECT / "docs" / "gallery.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        scratch_folder(folder)
        (folder / "tools").symlink_to(PROJECT / "tools")
        (folder / "pictures").mkdir()
        for block in _BLOCK.finditer(page):
            names = re.findall(r"\(pictures/(\S+)\)", block["pictures"])
            if wanted and wanted.isdisjoint(names):
                continue
            for command in commands(block["commands"]):
                print("$", command.line, flush=True)
                environment = {**os.environ, "CAPTIOUS_DATA": str(DATA)}
                subprocess.run(command.line, shell=True, check=True, cwd=folder, env=environment)
            for name in names:
                dark = name.replace(".png", "-dark.png")  # pages are photographed in both, plots are drawn in one
                is_page = (folder / "pictures" / dark).exists()
                for copied in (name, dark) if is_page else (name,):
                    shutil.copyfile(folder / "pictures" / copied, pictures / copied)
                    _make_small(pictures / copied)
                    print(pictures / copied, flush=True)
                if not is_page:
                    write_dark(pictures / name)


def _make_small(picture: Path) -> None:
    """Reduce the number of colors of a picture with more bytes than the tests allow."""
    image = Image.open(picture).convert("RGB")
    for colors in (32, 24, 16):
        if picture.stat().st_size >= 60_000:
            image.quantize(colors).save(picture, optimize=True)


if __name__ == "__main__":
    main(set(sys.argv[1:]))
