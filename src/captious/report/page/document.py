"""A single-file page: style, data and scripts inside, with a policy that lets it load nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from string import Template
from typing import Any

from captious.report.explanations.values import SCRIPTS, SCRIPTS_FOLDER
from captious.report.html import DESIGN_FOLDER, asset, text
from captious.report.image_folder import ImageFolder
from captious.report.image_urls import ImageUrls
from captious.version import __version__

_STYLES = (f"{DESIGN_FOLDER}/tokens.css", "tables.css", "page.css", "explanations/explanations.css")
_LIBRARIES = ("d3-7.9.2", "observable-plot-0.6.17")
#: In the order in which they are put together; each is a part of one module.
_SCRIPTS = (
    *(f"{SCRIPTS_FOLDER}/{name}" for name in SCRIPTS),
    "columns.js",
    "data.js",
    "figures.js",
    "tables.js",
    "distributions.js",
    "packed_explanations.js",
    "word_explanations.js",
    "image.js",
    "list.js",
    "explorer.js",
    "results.js",
    "printing.js",
    "main.js",
)
#: Of the style that Observable Plot puts into its drawings, for the class "plot".
_PLOT_STYLE = "sha256-+TfQir1nvDucAdvE6XUQBt4ayUjpAWkbw2kCdSfekHM="


def document(
    title: str,
    content: str,
    manifest: Mapping[str, Any],
    columns: Iterable[str] = (),
    *,
    images: ImageUrls | ImageFolder | None = None,
) -> str:
    """Return the page.

    Args:
        title: title of the page, plain text.
        content: HTML of its main part.
        manifest: plain values for its scripts.
        columns: the data, base64.
        images: source of images.
    """
    style = "".join(asset(name) for name in _STYLES)
    page_script = "".join(asset(name) for name in _SCRIPTS)
    scripts = [_library(name) for name in _LIBRARIES]
    packed_manifest = json.dumps(manifest, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    data = [f'<script type="application/json" id="manifest">{packed_manifest}</script>']
    data += [f'<script type="text/plain" class="column">{packed}</script>' for packed in columns]
    code = [f"<script>{script}</script>" for script in scripts] + [f'<script type="module">{page_script}</script>']
    return Template(asset("page.html")).substitute(
        policy=_policy([*scripts, page_script], style, images),
        version=escape(__version__),
        title=text(title),
        style=style,
        content=content,
        images="" if images is None else ", except for images",
        data="\n".join(data),
        scripts="\n".join(code),
    )


@cache
def _library(name: str) -> str:
    """Return a library with its license."""
    license = asset(f"third_party/{name}.LICENSE").strip()
    return f"/*\n{license}\n*/\n{asset(f'third_party/{name}.min.js')}"


def _policy(scripts: Sequence[str], style: str, images: ImageUrls | ImageFolder | None) -> str:
    rules = {
        "default-src": "'none'",
        "script-src": " ".join(f"'{_hash(script)}'" for script in scripts),
        "style-src": f"'{_hash(style)}' '{_PLOT_STYLE}'",
        "img-src": "'none'" if images is None else images.source,
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return escape("; ".join(f"{name} {value}" for name, value in rules.items()))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode("ascii")
