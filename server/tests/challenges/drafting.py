"""A challenge with comments in its file, and what its organizer does with a draft of it in the browser."""

from __future__ import annotations

import json
from typing import Any

from server.tests.support.site import Site
from server.tests.support.small_challenge import REFERENCES

CONTENT = json.dumps({str(image): texts for image, texts in REFERENCES.items()}).encode()
COMMENTED = """# About this challenge.
title = "Commented"     # a comment that stays
summary = "One."
organizers = ["olga"]
metrics = ["bleu",
           "rouge-l"]
rank_by = "bleu-4"

[[texts]]
title = "Overview"
file = "pages/overview.md"

[[references]]
name = "c2"
file = "c2.json"

[[phases]]              # the only one
name = "main"
closes = 2120-12-31T23:59:59Z
"""


def admin(site: Site) -> Any:
    from captious_server.models import User

    return site.client(User.objects.create_superuser("root"))


def file(name: str = "references.json", content: bytes = CONTENT) -> Any:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile(name, content)


def form_of(page: Any, **changes: str) -> dict[str, Any]:
    """What the form of the editor would send, with some changes."""
    values = {field.html_name: field.value() or "" for field in page.context["form"]}
    return {**values, **changes}


def olga(site: Site) -> Any:
    from captious_server.models import User

    return site.client(User.objects.get(username="olga"))


def edited(site: Site, *replacements: tuple[str, str], **changes: str) -> Any:
    """Replace parts of challenge.toml in the editor."""
    client = olga(site)
    client.post("/challenges/commented/edit")
    page = client.get("/drafts/commented/")
    text = page.context["form"]["toml"].value()
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    return client.post("/drafts/commented/", form_of(page, toml=text, **changes))


def toml(site: Site, slug: str = "commented") -> str:
    return (site.data / "drafts" / slug / "challenge.toml").read_text()
