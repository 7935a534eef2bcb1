"""A site that sends mail, to nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.tests.support.site import Site
from server.tests.support.small_challenge import write_folder


@pytest.fixture
def mailing(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The challenge "small" of Olga, on a site that sends mail; Django's test mailbox keeps it."""
    from django.conf import settings
    from django.core import mail

    monkeypatch.setattr(settings, "EMAIL_BACKEND", "django.core.mail.backends.locmem.EmailBackend")
    mail.outbox = []
    site.configure(email_url="smtp://mail.example.org", hosts=("captions.example.org",), https=True)
    site.user("olga")
    folder = write_folder(tmp_path / "small")
    toml = folder / "challenge.toml"
    toml.write_text(f'organizers = ["olga"]\nconfirmed_members = false\n{toml.read_text()}')
    site.load(folder)
    return site


@pytest.fixture
def ann(mailing: Site) -> Any:
    """Ann, who has confirmed her address and asked for everything."""
    address = "ann@example.org"
    return mailing.user("ann", email=address, confirmed=True, mail_ended=True, mail_closing=True)
