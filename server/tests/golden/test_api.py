"""The API: its description, and the answers of its calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from server.tests.golden.addresses import addresses
from server.tests.golden.place import Place, upload
from server.tests.golden.plain import content_of, file_of, files_of, plain_value, short
from tests.golden.record import Record

#: Whose answers are recorded.
_ROLES = ("visitor", "captain", "organizer")


def answer(response: Any) -> Any:
    """The content of an answer that is no error; None of an error."""
    content, kind = content_of(response), response["Content-Type"]
    if response.status_code >= 400:
        return None
    if kind.startswith("application/zip"):
        return short(files_of(content), "captions/", "challenge/references")
    ending = {"application/json": ".json", "text/csv": ".csv"}.get(kind.partition(";")[0], ".txt")
    return file_of(ending, content)


def test_description(place: Place, record: Record) -> None:
    document = json.loads(content_of(place.call("visitor", "GET", "/api/v1/openapi.json")))
    document["info"]["version"] = "<version>"
    record("openapi", document)


@pytest.mark.usefixtures("sqlite")  # PostgreSQL has another order of keys
def test_answers(place: Place, record: Record) -> None:
    """What a visitor, the captain of a team and an organizer read; the same answer is recorded once."""
    document: dict[str, Any] = {}
    for address in addresses(place):
        if not address.is_api or address.name.endswith(("openapi.json", "/metrics")) or "/archive" in address.name:
            continue
        answers: dict[str, Any] = {}
        for role in _ROLES:
            with place.undone(files=False):
                found = answer(place.call(role, "GET", address.asked))
            same = next((other for other, value in answers.items() if value == found), None)
            if found is not None:
                answers[role] = found if same is None else f"as the {same}"
        document[address.name] = answers
    record("api_answers", document)


def test_state_for_prometheus(place: Place, record: Record) -> None:
    with place.undone():
        lines = content_of(place.call("administrator", "GET", "/api/v1/metrics")).decode().splitlines()
    varying = ("_seconds", "_free_bytes")
    shown: dict[str, Any] = {"about": [line for line in lines if line.startswith("#")], "values": {}}
    for line in lines:
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            shown["values"][name] = "<varying>" if any(word in name for word in varying) else float(value)
    record("prometheus", shown)


#: Changes: a name, and the address; behind a bar, the form in the body.
_CAPTAIN: list[tuple[str, str]] = [
    ("edit", "submissions/{public}/edit?method=Another&link=https://example.org/b&description=New&anonymous=1"),
    ("edit nothing", "submissions/{public}/edit"),
    ("edit badly", "submissions/{public}/edit?link=no&public=perhaps"),
    ("delete", "submissions/{public}/delete"),
    ("cancel", "submissions/{queued}/cancel"),
    ("cancel late", "submissions/{public}/cancel"),
    ("choose", "submissions/{second}/choose"),
    ("choose no more", "submissions/{second}/choose?chosen=0"),
    ("create team", "teams?name=Gamma"),
    ("create team again", "teams?name=Alpha"),
    ("invite", "teams/alpha/invite?label=new"),
    ("revoke", "teams/alpha/invitations/{open_invitation}/revoke"),
    ("leave", "teams/alpha/leave"),
    ("remove", "teams/alpha/remove?user=member"),
    ("captain", "teams/alpha/captain?user=member"),
    ("captain of nobody", "teams/alpha/captain?user=nobody"),
]
_ORGANIZER: list[tuple[str, str]] = [
    ("approve", "challenges/circle/teams/beta?approved=1"),
    ("refuse", "challenges/circle/teams/beta?approved=0&reason=No."),
    ("webhook", "challenges/open/webhooks?|url=https://hooks.example.org/new"),
    ("wrong webhook", "challenges/open/webhooks?|url=http://127.0.0.1/"),
    ("delete webhook", "challenges/open/webhooks/{webhook}/delete"),
]


@pytest.mark.parametrize(("role", "calls"), [("captain", _CAPTAIN), ("organizer", _ORGANIZER)])
def test_changes(place: Place, record: Record, role: str, calls: list[tuple[str, str]]) -> None:
    values = {**place.submissions, **place.values}
    document = {}
    for name, address in calls:
        with place.undone():
            where, _, form = address.format_map(values).partition("|")
            kind = "application/x-www-form-urlencoded" if form else ""
            response = place.call(role, "POST", f"/api/v1/{where}", form.encode(), kind)
            document[name] = {"status": response.status_code, "answer": plain_value(response.json())}
    for row in document.values():
        row["answer"].pop("secret", None)
    record(f"api_changes_of_{role}", document)


_UPLOADS: dict[str, tuple[str, bytes | None]] = {
    "right": ("method=New&phase=main&team=alpha&filename=a.zip", None),
    "check": ("method=New&phase=main&team=alpha&filename=a.zip&dry_run=1", None),
    "no method": ("phase=main&team=alpha&filename=a.zip", None),
    "no team": ("method=New&phase=main&filename=a.zip", None),
    "no phase": ("method=New&team=alpha&filename=a.zip", None),
    "closed phase": ("method=New&phase=past&team=alpha&filename=a.zip", None),
    "unknown phase": ("method=New&phase=nothing&team=alpha&filename=a.zip", None),
    "team of others": ("method=New&phase=main&team=beta&filename=a.zip", None),
    "no zip file": ("method=New&phase=main&team=alpha&filename=a.zip", b"PK"),
    "other type": ("method=New&phase=main&team=alpha&filename=a.exe", b"MZ"),
    "nothing": ("method=New&phase=main&team=alpha&filename=a.json", b""),
    "one file of two": ("method=New&phase=main&team=alpha&filename=captions_val_x_results.json", b"[]"),
    "wrong": ("method=New&phase=main&team=alpha&filename=a.json&dry_run=1", b'[{"image_id": 1, "caption": 2}]'),
}


def test_uploads(place: Place, record: Record) -> None:
    document = {}
    for name, (query, content) in _UPLOADS.items():
        with place.undone():
            body = upload("mixture2") if content is None else content
            response = place.call("captain", "POST", f"/api/v1/challenges/open/submissions?{query}", body)
            document[name] = {"status": response.status_code, "answer": plain_value(response.json())}
    record("uploads", document)
