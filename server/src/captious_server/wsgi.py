"""The WSGI application. ``CAPTIOUS_SERVER_DATA`` names the data folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from captious_server.operations.setup import set_up

set_up()

from django.core.wsgi import get_wsgi_application  # noqa: E402 - needs settings

_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer a request. Its text is read as UTF-8, as Django fails on codecs that are not text encodings."""
    kind = environ.get("CONTENT_TYPE", "")
    if "charset" in kind.lower():
        environ["CONTENT_TYPE"] = re.sub(r";\s*charset\s*=[^;]*", "", kind, flags=re.IGNORECASE)
    return _django(environ, start_response)
