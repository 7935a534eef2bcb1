"""What counts as the address of a client."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from captious_server.pages.middleware import sender
from captious_server.settings import client_address, network


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("", "192.0.2.1"),
        ("198.51.100.7", "198.51.100.7"),
        ("10.0.0.1, 198.51.100.7", "198.51.100.7"),
        ("198.51.100.7, ", "192.0.2.1"),
        ("198.51.100.7:51234", "198.51.100.7"),
        ("10.0.0.1:5, 198.51.100.7:51234", "198.51.100.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("[2001:db8::7]:51234", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
    ],
)
def test_address_seen_by_the_proxy_is_used(forwarded: str, address: str) -> None:
    """The port, which changes with every connection, is dropped."""
    assert client_address("192.0.2.1", forwarded, behind_proxy=True) == address
    assert client_address("192.0.2.1", forwarded, behind_proxy=False) == "192.0.2.1"


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1:2", "2001:db8::"),
        ("unknown", "unknown"),
    ],
)
def test_ipv6_network_counts_as_one_address(address: str, counted: str) -> None:
    assert network(address) == counted


@pytest.mark.parametrize(
    ("path", "headers", "whose"),
    [
        ("/api/v1/challenges/a", {"AUTHORIZATION": "Bearer cap_x"}, "cap_x"),
        ("/api/v1/challenges/a", {"AUTHORIZATION": "bearer \t  cap_x  "}, "cap_x"),
        (
            "/api/v1/challenges/a/submissions",
            {"AUTHORIZATION": "Bearer cap_x", "COOKIE": "captious_session=a"},
            "cap_x",
        ),
        ("/api/v1/challenges/a", {"AUTHORIZATION": "Basic cap_x"}, ""),
        ("/challenges/a/submit", {"COOKIE": "captious_session=abc"}, "abc"),
        ("/challenges/a/submit", {"COOKIE": "x=1; captious_session=abc;y", "AUTHORIZATION": "Bearer 1"}, "abc"),
        ("/challenges/a/submit", {"COOKIE": "x=1"}, ""),
        ("/challenges/a/submit", {}, ""),
    ],
)
def test_sender_key_ignores_text_around_a_token_or_session(path: str, headers: dict[str, str], whose: str) -> None:
    assert sender(RequestFactory().get(path, headers=headers)) == whose
