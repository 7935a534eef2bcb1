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


def form_of(page: Any, **changes: Any) -> dict[str, Any]:
    """What the form of the editor would send, with some changes."""
    context = page.context
    values = {}
    for form in (context["form"], *(row for part in context["parts"] for row in part["rows"].forms)):
        for field in form:
            value = field.value()
            if field.widget_type == "datetimelocal" or hasattr(value, "isoformat"):
                value = value.isoformat() if value else ""
            if value is False or value is None:
                continue
            values[field.html_name] = "on" if value is True else value
    for part in context["parts"]:
        for field in part["rows"].management_form:
            values[field.html_name] = field.value()
    return {**values, **changes}


def olga(site: Site) -> Any:
    from captious_server.models import User

    return site.client(User.objects.get(username="olga"))


def edited(site: Site, **changes: Any) -> Any:
    client = olga(site)
    client.post("/challenges/commented/edit")
    return client.post("/drafts/commented/", form_of(client.get("/drafts/commented/"), **changes))


def toml(site: Site, slug: str = "commented") -> str:
    return (site.data / "drafts" / slug / "challenge.toml").read_text()
