"""The filled site that all tests of the record share."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.tests.golden.place import Place
from server.tests.support.site import Site, empty_site

#: The latest place that was filled in this process; others are copies of its site.
_FILLED: list[Place] = []


@pytest.fixture(scope="module")
def place(set_up_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The site, filled once; tests change it within ``place.undone()`` only."""
    empty_site(set_up_site)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logging.getLogger("django.request"), "disabled", True)  # thousands of refused requests
        site = Site(set_up_site, patch)
        place = Place(site, tmp_path_factory.mktemp("golden"))
        site.build("place of the record", place.fill)
        if place.submissions:
            _FILLED[:] = [place]
        else:
            vars(place).update({**vars(_FILLED[0]), "site": site})
            place.keep_files()
        yield place
