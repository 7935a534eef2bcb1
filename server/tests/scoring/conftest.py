"""A small challenge on the site."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.tests.support.site import Site
from server.tests.support.small_challenge import write_folder


@pytest.fixture
def folder(site: Site, tmp_path: Path) -> Path:
    """The folder of a challenge that has been loaded."""
    folder = write_folder(tmp_path / "small")
    site.load(folder)
    return folder
