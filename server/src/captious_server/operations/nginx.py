"""The configuration of nginx, which stands in front of the web server: deadlines, sizes, shares and TLS."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from string import Template

from captious.errors import ParameterError
from captious_server.settings import API_UPLOADS, FORM_BYTES, PAGE_UPLOADS, REQUEST_BYTES, ServerSettings

_ADDRESS = re.compile(r"(([\w.-]+|\[[0-9A-Fa-f:]+\]):)?\d{1,5}")
_PATH = re.compile(r"[\w/.@+-]+")
#: nginx makes these folders when it starts, whether it uses them or not.
_TEMPORARY_FOLDERS = ("client_body", "proxy", "fastcgi", "scgi", "uwsgi")


class _Template(Template):
    delimiter = "%"  # $ is of nginx's variables


def configuration(
    settings: ServerSettings,
    listen: Sequence[str],
    upstream: str,
    *,
    certificate: tuple[Path, Path] | None = None,
    redirect: Sequence[str] = (),
    folder: Path | None = None,
) -> str:
    """A complete configuration, for ``nginx -c``.

    Args:
        settings: of the server, for the sizes of uploads.
        listen: where clients reach the site, each ADDRESS:PORT or PORT.
        upstream: where nginx reaches ``captious serve``.
        certificate: files of a certificate and its key, for TLS.
        redirect: where plain HTTP leads to HTTPS, with a certificate. certbot is answered there.
        folder: where nginx keeps its process id and waiting requests; None for its usual folders, which need root.

    Raises:
        ParameterError: an address or path that cannot be in a configuration.
    """
    for address in (*listen, *redirect, upstream):
        if not _ADDRESS.fullmatch(address):
            raise ParameterError(f"{address!r} is not an address for nginx", hint="write ADDRESS:PORT or PORT")
    for path in (*(certificate or ()), *([folder] if folder else [])):
        if not _PATH.fullmatch(str(path)):
            raise ParameterError(f"{str(path)!r}: nginx does not take this path", hint="use letters, digits and ._-+@")
    lines = [f"listen {address}{' ssl' if certificate else ''};" for address in listen]
    if certificate:
        lines += [
            f"ssl_certificate {certificate[0].absolute()};",
            f"ssl_certificate_key {certificate[1].absolute()};",
            "ssl_protocols TLSv1.2 TLSv1.3;",
            "ssl_session_cache shared:tls:10m;",
            "ssl_session_tickets off;",
        ]
    temporary = [f"{name}_temp_path {folder.absolute()}/{name};" for name in _TEMPORARY_FOLDERS] if folder else []
    plain = _indented([f"listen {address};" for address in redirect], 4)
    return _filled(
        "nginx.conf",
        pid=folder.absolute() / "nginx.pid" if folder else "/run/nginx.pid",
        temporary=_indented(temporary, 2),
        form_bytes=REQUEST_BYTES,
        page_bytes=settings.upload_bytes + FORM_BYTES,
        api_bytes=settings.upload_bytes,
        page_uploads=PAGE_UPLOADS,
        api_uploads=API_UPLOADS,
        upstream=upstream if ":" in upstream else f"127.0.0.1:{upstream}",
        listen=_indented(lines, 4),
        redirect=_filled("nginx_redirect.conf", listen=plain) if certificate else "",
    )


def _filled(name: str, **values: object) -> str:
    return _Template(Path(__file__).with_name(name).read_text(encoding="utf-8")).substitute(values)


def _indented(lines: Sequence[str], n: int) -> str:
    return "".join(f"{' ' * n}{line}\n" for line in lines)
