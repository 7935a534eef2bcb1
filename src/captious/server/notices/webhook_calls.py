"""One call of a webhook: signed, to public addresses only, without redirects, within a fixed time.

Organizers choose the address, so it is untrusted: a server that fetches it could be made to reach hosts that only it
can. The name is resolved once, every address that it has must be public, and the connection is made to the address
that was checked. Only the status of the answer is read.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Collection
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from captious.version import __version__

_TIMEOUT = 10.0  # seconds without data
_MAX_SECONDS = 20.0  # seconds for the whole call
#: Addresses that lead to IPv4 addresses within them, public or not.
_NAT64_NETWORK = ipaddress.ip_network("64:ff9b::/96")


class WebhookError(Exception):
    """A failed call, with a short message for organizers."""


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """``v1=`` and the HMAC-SHA256 of the timestamp, a dot and the body."""
    return "v1=" + hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def url_problem(url: str, trusted_hosts: Collection[str]) -> str:
    """The reason why an address cannot be a webhook, in one sentence; empty if it can. Names are not resolved.

    Args:
        trusted: host names that the settings of the server always allow, even without TLS.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        return "This is not a valid address."
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url or not host:
        return "This is not a valid address."
    if parts.scheme != "https" and not (parts.scheme == "http" and host in trusted_hosts):
        return "The address must begin with https://."
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "The address must not have a user name or a fragment."
    with suppress(ValueError):
        if host not in trusted_hosts and not is_public(str(ipaddress.ip_address(host))):
            return "The address is not on the public internet."
    return ""


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet, and leads to no other."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip.sixtofour is not None or ip.teredo is not None or ip in _NAT64_NETWORK:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def post(url: str, body: bytes, headers: dict[str, str], trusted_hosts: Collection[str]) -> int:
    """Send a body; return the status of the answer.

    Raises:
        WebhookError: it did not arrive.
    """
    if problem := url_problem(url, trusted_hosts):
        raise WebhookError(problem)
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        connection = socket.create_connection(_address(parts, host in trusted_hosts), timeout=_TIMEOUT)
    except OSError as error:
        raise WebhookError(f"no connection: {_reason(error)}") from None
    timer = threading.Timer(_MAX_SECONDS, _shut_down, [connection])
    timer.start()
    try:
        with connection:
            return _status(connection, parts, body, headers)
    except ssl.SSLCertVerificationError:
        raise WebhookError("its certificate is not valid") from None
    except (OSError, http.client.HTTPException) as error:
        raise WebhookError(f"no answer: {_reason(error)}") from None
    finally:
        timer.cancel()


def _address(parts: SplitResult, is_trusted: bool) -> tuple[str, int]:
    """The address and the port to connect to."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    entries = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in entries]
    if not is_trusted and not all(map(is_public, addresses)):
        raise WebhookError("its address is not on the public internet")
    return addresses[0], port


def _status(raw: socket.socket, parts: SplitResult, body: bytes, headers: dict[str, str]) -> int:
    host = parts.hostname or ""
    is_tls = parts.scheme == "https"
    sock = ssl.create_default_context().wrap_socket(raw, server_hostname=host) if is_tls else raw
    with sock:
        connection = http.client.HTTPConnection(host)
        connection.sock = sock
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        base_headers = {
            "Host": parts.netloc,
            "User-Agent": f"captious/{__version__}",
            "Content-Type": "application/json",
        }
        connection.request("POST", target, body, {**base_headers, "Connection": "close", **headers})
        return connection.getresponse().status


def _shut_down(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    return str(getattr(error, "strerror", None) or type(error).__name__)[:100]
