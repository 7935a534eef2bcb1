"""What counts as the address of a client."""

from __future__ import annotations

import pytest

from captious.server.people.addresses import client_address, network


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
def test_the_address_that_the_proxy_saw_counts(forwarded: str, address: str) -> None:
    """Without the port, which changes with every connection."""
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
def test_a_network_of_ipv6_counts_as_one(address: str, counted: str) -> None:
    assert network(address) == counted
