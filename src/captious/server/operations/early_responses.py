"""Answers that the web server gives without the application."""

from __future__ import annotations

import json
from html import escape
from http import HTTPStatus

from waitress.utilities import Error

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body><main><h1>{title}</h1><p>{message}</p><p><a href="/">Challenges</a></p></main></body>
</html>
"""


class Refusal(Error):
    """A refusal: JSON for programs, otherwise a page."""

    def __init__(self, status: HTTPStatus, message: str, *, as_json: bool) -> None:
        super().__init__(message)
        self.code, self.reason = status.value, status.phrase
        self._as_json = as_json

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        kind, text = "text/html", _PAGE.format(title=self.reason, message=escape(self.body))
        if self._as_json:
            kind, text = "application/json", json.dumps({"error": self.body})
        headers = [("Content-Type", f"{kind}; charset=utf-8")]
        if self.code in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
            headers.append(("Retry-After", "30"))
        return f"{self.code} {self.reason}", headers, text.encode()
