"""A challenge with submissions, for archives."""

from __future__ import annotations

import pytest

from server.tests.support.site import Site


@pytest.fixture
def demo(site: Site) -> Site:
    """The demonstration, whose captions are public, with two submissions of Ann's."""

    def scene() -> None:
        site.demo()
        ann = site.user("ann")
        site.submit(ann, method="=named", link="https://example.org/ann", may_publish="on")
        site.submit(ann, method="nameless", anonymous="on")
        site.submit(ann, method="private", public="")
        site.work()

    site.build("demonstration with three submissions", scene)
    return site
