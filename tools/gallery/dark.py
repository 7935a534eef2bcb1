"""Writes the dark pictures of plots, which the site shows to readers who prefer dark pages.

    python tools/gallery/dark.py PICTURE...

PLOT.png becomes PLOT-dark.png: the same hues, with white for black and the background of the site's dark pages for
white. A picture that the dark page shows has to be made again when its plot changes; make.py does so.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

#: The background of dark pages of Furo.
_BACKGROUND = np.array([19, 20, 22])


def write_dark(picture: Path) -> Path:
    """Write the dark picture of a plot beside it."""
    light = np.asarray(Image.open(picture).convert("RGB")) / 255
    # The lightness of HSL, reversed, is the same shift of all three colors.
    dark = light + 1 - light.max(-1, keepdims=True) - light.min(-1, keepdims=True)
    pixels = _BACKGROUND + dark * (255 - _BACKGROUND)
    path = picture.with_name(f"{picture.stem}-dark.png")
    Image.fromarray(pixels.round().astype(np.uint8)).quantize(64).save(path, optimize=True)
    return path


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(write_dark(Path(name)))
