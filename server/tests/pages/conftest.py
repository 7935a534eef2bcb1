"""What tests of pages share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.tests.support.site import Site
from server.tests.support.small_challenge import write_folder


@pytest.fixture
def root_client(site: Site, tmp_path: Path) -> Any:
    """An administrator's browser; the challenge "small" is there."""
    from captious_server.models import User

    site.load(write_folder(tmp_path / "small"))
    return site.client(User.objects.create_superuser("root"))
