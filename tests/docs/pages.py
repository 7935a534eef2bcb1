"""The code blocks of Markdown pages as tests, collected by Sybil: in order, in one namespace and one scratch folder.

A comment on the line above a block says how it is tested, and why:

    <!-- skip: downloads 1.4 GB -->
    <!-- slow: takes a minute -->
    <!-- nightly, needs data: judges all captions of Composite, 3 minutes -->
    <!-- models, needs torch: scores with a language model -->

``slow``, ``nightly`` and ``models`` are pytest's marks. ``needs data`` means the shared data, of which the scratch
folder has some files under the names that the pages use: without it, the block is skipped. ``needs NAME`` skips the
block if the Python package NAME is not installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import traceback
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast
from unittest import mock

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from captious.metrics.contract import registry
from captious.parsing.sources import approximate
from captious.resources.cache import is_first_time
from captious.resources.grammar import BUNDLED
from tests.docs.blocks import RUN, Block, run
from tests.support.encoders import minilm_folder
from tests.support.shared_data import DATA, with_data

PROJECT = Path(__file__).parents[2]
#: The vectors of the examples, which stand for those that a reader has.
EXAMPLE_VECTORS = PROJECT / "examples" / "captions-12d.txt"

#: Files of the shared data by the names that the pages use.
DATA_FILES = {
    "captions_val2014.json.gz": "coco/captions_val2014.json.gz",
    "karpathy_test_refs.json.gz": "coco/karpathy_test_refs.json.gz",
    "fleur_flickr8k_expert.txt.gz": "fleur/fleur_flickr8k_expert.txt.gz",
    "fleur_composite.txt.gz": "fleur/fleur_composite.txt.gz",
    "results_val2014": "coco/results_val2014",
    "results.json.gz": "coco/results_val2014/vinyals-et-al-2017.json.gz",
    "cap_c5.json.gz": "coco2015/cap_c5.json.gz",
    "cap_c40.json.gz": "coco2015/cap_c40.json.gz",
    "glove_100d_captions.txt.gz": "vectors/glove_100d_captions.txt.gz",
}

_MARKER = re.compile(r"<!-- (?P<how>[a-z][\w ,-]*): (?P<why>[^\n]+) -->\n+\Z")
_FENCE = RawFencedCodeBlockLexer(re.compile(r"(?P<language>[\w{}-]*)(?: +(?P<file>\S+))?[^\n]*\n"))
_MARKS = ("slow", "nightly", "models")


def fences(document: Document) -> Iterator[tuple[Region, Block]]:
    """Yield all fenced blocks of a page."""
    for region in _FENCE(document):
        line = document.text.count("\n", 0, region.start) + 2
        lexemes = region.lexemes
        page = Path(document.path).resolve().relative_to(PROJECT).as_posix()
        yield region, Block(page, line, lexemes["language"], lexemes["file"], lexemes["source"])


def marker(text: str) -> tuple[list[str], str]:
    """Return the marker of the block after this text, with its reason; nothing without a marker."""
    match = _MARKER.search(text)
    if match is None or match["how"].startswith("command"):
        return [], ""
    how = re.split(r", *", match["how"])
    unknown = [word for word in how if word not in ("skip", *_MARKS) and not re.fullmatch(r"needs [\w.]+", word)]
    assert not unknown, f"unknown marker {match[0].strip()}"
    return how, match["why"]


def parse(document: Document) -> Iterable[Region]:
    """Return the blocks of a page that are run, or written to a file for others."""
    for region, block in fences(document):
        if block.language in RUN or block.file is not None:
            how, why = marker(document.text[: region.start])
            region.parsed, region.evaluator = block, _evaluate
            region.lexemes |= {"how": how, "why": why}
            yield region


def _evaluate(example: Example) -> str | None:
    """Run a block, and return the problem, if any."""
    data = {"CAPTIOUS_DATA": str(DATA)} if "needs data" in example.region.lexemes["how"] else {}
    with mock.patch.dict(os.environ, data):
        try:
            run(example.parsed, example.namespace)
        except AssertionError as difference:
            return str(difference)
        except Exception:
            return traceback.format_exc()
    return None


_sybil = Sybil(
    parsers=[parse],
    patterns=["README.md", "docs/*.md", "docs/**/*.md", "server/README.md", "server/docs/*.md"],
    path=str(PROJECT),
    fixtures=["page"],
    name="pages",
)
_collect = _sybil.pytest()


def collect(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the tests of a page, with their marks."""
    file: Any = _collect(file_path, parent)
    if file is None:
        return None
    collect_blocks = file.collect

    def collect_marked() -> Iterator[pytest.Item]:
        for item in collect_blocks():
            _mark(item, item.example.region.lexemes["how"], item.example.region.lexemes["why"])
            yield item

    file.collect = collect_marked
    return cast(pytest.Collector, file)


def _mark(item: pytest.Item, how: list[str], why: str) -> None:
    item.add_marker(pytest.mark.filterwarnings("ignore::captious.CaptiousWarning"))
    item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))  # Sybil cannot show errors outside of blocks
    for word in how:
        if word == "skip":
            item.add_marker(pytest.mark.skip(reason=f"not here: {why}"))
        elif word in _MARKS:
            item.add_marker(word)
        elif word == "needs data":
            item.add_marker(with_data)
        else:
            package = word.removeprefix("needs ")
            missing = importlib.util.find_spec(package) is None
            item.add_marker(pytest.mark.skipif(missing, reason=f"no {package}"))
    if "nightly" in how:
        item.add_marker("slow")


def scratch_folder(folder: Path) -> None:
    """Put the inputs of pages' blocks into a folder: the examples, and files of the shared data if there are any."""
    shutil.copytree(PROJECT / "examples", folder / "examples")
    if DATA.is_dir():
        for name, path in DATA_FILES.items():
            (folder / name).symlink_to((DATA / path).resolve())
    if (model := minilm_folder()) is not None:
        (folder / "minilm").symlink_to(model)


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The scratch folder and the namespace of a page."""
    folder = tmp_path_factory.mktemp("page")
    scratch_folder(folder)
    for advice in approximate(f"{BUNDLED}-0"):
        is_first_time(advice)  # pages show what commands print that are not the very first one
    module = types.ModuleType("page")
    document: Any = request.node.documents[0]
    document.namespace = module.__dict__
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("CAPTIOUS_VECTORS", str(EXAMPLE_VECTORS))
        patch.setattr(registry, "_registered", {})
        patch.setitem(sys.modules, "page", module)
        with mock.patch.dict(os.environ):
            yield
