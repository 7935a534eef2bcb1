"""Limits on the size of requests and the key of their time of arrival, shared by the web server and the pages.

Only uploads may be larger than a form.
"""

from __future__ import annotations

#: Key in the environment of a request: the time when its first byte arrived, in seconds since 1970.
ARRIVAL_KEY = "captious.arrival_time"

_REQUEST_BYTES = 1024 * 1024  # bytes of a request that brings no captions
_FORM_BYTES = 256 * 1024  # bytes of a form around a file


def is_upload(path: str) -> bool:
    """Return whether an address receives files: captions by form or API, or files of a draft."""
    if path.startswith("/drafts/"):
        return path == "/drafts/" or path.endswith(("/references", "/files"))
    return path.endswith("/submit") or (path.startswith("/api/") and path.endswith("/submissions"))


def max_request_bytes(path: str, upload_bytes: int) -> int:
    """The largest number of bytes of a request to an address.

    Args:
        path: of the address.
        upload_bytes: size limit of a file of captions.
    """
    if not is_upload(path):
        return _REQUEST_BYTES
    return upload_bytes if path.startswith("/api/") else upload_bytes + _FORM_BYTES
