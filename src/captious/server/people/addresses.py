"""Addresses of clients, tokens and sessions, as counted by limits."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping

from django.http.cookie import parse_cookie

SESSION_COOKIE = "captious_session"

#: Addresses with ports, as some proxies write them. Ports change with every connection, so limits drop them.
_ADDRESS_AND_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d+)?|([\d.]+):\d+")


def client_address(peer: str, forwarded_for: str, *, behind_proxy: bool) -> str:
    """The address of a client.

    Args:
        peer: address of the connection.
        forwarded: ``X-Forwarded-For``, which counts only behind a proxy.
        behind_proxy: whether there is one.
    """
    # The proxy appends the address that it saw; earlier ones may be forged by the client.
    address = forwarded_for.rpartition(",")[2].strip() if behind_proxy else ""
    match = _ADDRESS_AND_PORT.fullmatch(address)
    return ((match[1] or match[2] if match else address) or peer)[:45]


def network(address: str) -> str:
    """An address for limits; for IPv6, the first address of the /64 network of a client."""
    try:
        value = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(value, ipaddress.IPv4Address):
        return address
    if value.ipv4_mapped is not None:
        return str(value.ipv4_mapped)
    return str(ipaddress.ip_network((int(value), 64), strict=False).network_address)


def token_in(authorization: str) -> str | None:
    """The token in the header ``Authorization``, without spaces around it; None if that is of another scheme."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def sender(path: str, headers: Mapping[str, str]) -> str:
    """The sender of a request by its headers: the token of an API call, otherwise the session.

    Args:
        headers: by names as in ``AUTHORIZATION``.

    Returns:
        Empty if there is neither.
    """
    if path.startswith("/api/"):
        return token_in(headers.get("AUTHORIZATION", "")) or ""
    return str(parse_cookie(headers.get("COOKIE", "")).get(SESSION_COOKIE, ""))
