"""Files that the site makes: archives of a challenge, a user's own data, templates, feeds; and headers."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import pytest

from server.tests.golden.place import Place
from server.tests.golden.plain import content_of, digest_of, file_of, files_of, plain_value, short
from tests.golden.record import Record

_NAMES = {version("captious"): "<version>"}


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("all", "phase=main"),
        ("public", "phase=main&public=1"),
        ("anonymous", "phase=main&public=1&anonymous=1"),
        ("every_phase", ""),
    ],
)
def test_archives(place: Place, record: Record, name: str, query: str) -> None:
    response = place.browser("organizer").get(f"/challenges/open/archive.zip?{query}")
    document = short(files_of(content_of(response), _NAMES), "captions/", "challenge/")
    if name in {"anonymous", "every_phase"}:  # what differs from the others: which files
        document = {file: digest_of(content) for file, content in document.items() if file != "scores.csv"}
    if name == "anonymous":  # numbers and their order are drawn
        pairs = sorted((re.sub(r"/\d+/", "/<number>/", file), digest) for file, digest in document.items())
        document = {"sorted": [f"{file}: {digest}" for file, digest in pairs]}
    record(f"archive_{name}", {"saved as": response["Content-Disposition"], "files": document})


@pytest.mark.parametrize("role", ["captain", "rival", "organizer"])
def test_own_data(place: Place, record: Record, role: str) -> None:
    with place.undone():
        as_json = content_of(place.browser(role).post("/account/data.json"))
    with place.undone():
        as_zip = files_of(content_of(place.browser(role).post("/account/data.zip")))
    files = {name: content if name.endswith(".txt") else digest_of(content) for name, content in as_zip.items()}
    record(f"own_data_of_{role}", {"json": file_of("data.json", as_json), "zip": [*files]})


_DOWNLOADS = [
    "/challenges/open/files/list.csv",
    "/challenges/open/logo",
    "/challenges/open/news.atom",
    "/challenges/open/template?phase=main",
    "/healthz",
]


def test_files(place: Place, record: Record) -> None:
    document: dict[str, Any] = {}
    for address in _DOWNLOADS:
        response = place.browser("captain").get(address)
        content, kind = content_of(response), response["Content-Type"]
        ending = {"application/json": ".json", "application/zip": ".zip"}.get(kind, ".txt")
        document[address] = {
            "type": kind,
            "content": files_of(content) if ending == ".zip" else file_of(ending, content, _NAMES),
        }
    document["/healthz"]["content"].pop("oldest_queued_seconds")
    uploaded = place.browser("captain").get(f"/submissions/{place.submissions['public']}/file")
    document["upload"] = {"type": uploaded["Content-Type"], "content": file_of("upload.zip", content_of(uploaded))}
    record("files", document)


def test_headers(place: Place, record: Record) -> None:
    """Headers of answers: of policies for browsers, of caches."""
    document = {}
    for address in (
        "/",
        "/nothing",
        "/challenges/open/leaderboard.csv",
        "/challenges/open/logo",
        "/api/v1/challenges",
        "/static/captious/favicon.svg",
        "/sign-in",
    ):
        response = place.browser("visitor").get(address)
        content_of(response)
        varying = {"Content-Length", "Last-Modified", "Date", "Expires", "ETag"}
        document[address] = {
            "status": response.status_code,
            "headers": plain_value({name: text for name, text in response.items() if name not in varying}),
            "cookies": {
                name: {key: value for key, value in cookie.items() if value and key != "expires"}
                for name, cookie in response.cookies.items()
            },
        }
    record("headers", document)
