"""The WSGI application. ``CAPTIOUS_SERVER_DATA`` names the data folder."""

from __future__ import annotations

from captious.server.operations.setup import set_up

set_up()

from django.core.wsgi import get_wsgi_application  # noqa: E402 - needs settings

application = get_wsgi_application()
