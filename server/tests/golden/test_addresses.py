"""Every address of the site, for every role: what it answers, and what a form without content does.

A new URL pattern fails these tests until its answers are recorded, and its parameters are in ``addresses.py``.
"""

from __future__ import annotations

from typing import Any

import pytest

from server.tests.golden.addresses import Address, addresses, patterns, templates
from server.tests.golden.place import ROLES, TOKENS, Place
from server.tests.golden.plain import answer_of, by_answer
from tests.golden.record import Record

#: Who is asked for in the administration; others are answered as the stranger.
_ADMINISTRATION = ("visitor", "stranger", "organizer", "administrator")
_API = (*ROLES, *TOKENS, "wrong")
#: Whose forms are also sent without their secret.
_WITHOUT_SECRET = ("visitor", "administrator")


def ask(place: Place, role: str, method: str, address: Address) -> dict[str, Any]:
    with place.undone(files=method != "GET"):
        if address.is_api:
            response = place.call(role, method, address.asked)
        elif method == "GET":
            response = place.browser(role).get(address.asked)
        else:
            response = place.browser(role, strict=method != "POST").post(address.asked)
        answer = answer_of(response, forms=method == "GET" and not address.is_administration)
    return answer


def table(place: Place, kind: list[Address], roles: tuple[str, ...]) -> dict[str, Any]:
    document = {}
    for address in kind:
        for method in ("GET", "POST"):
            first = ask(place, roles[0], method, address)
            if first["status"] == 405:  # whoever asks
                document[f"{method} {address.name}"] = {"everybody": first}
                continue
            others = [(role, ask(place, role, method, address)) for role in roles[1:]]
            document[f"{method} {address.name}"] = by_answer([(roles[0], first), *others])
    return document


@pytest.mark.usefixtures("place")
def test_patterns(record: Record) -> None:
    record("patterns", {pattern: templates(pattern) for pattern in patterns()})


def test_pages(place: Place, record: Record) -> None:
    pages = [address for address in addresses(place) if not address.is_api and not address.is_administration]
    record("pages", table(place, pages, tuple(ROLES)))


def test_pages_without_the_secret_of_forms(place: Place, record: Record) -> None:
    pages = [address for address in addresses(place) if not address.is_api]
    document = {}
    for address in pages:
        answers = [(role, ask(place, role, "POST without secret", address)) for role in _WITHOUT_SECRET]
        document[address.name] = by_answer(answers)
    record("without_secret", document)


def test_administration(place: Place, record: Record) -> None:
    pages = [address for address in addresses(place) if address.is_administration]
    record("administration", table(place, pages, _ADMINISTRATION))


def test_api_access(place: Place, record: Record) -> None:
    calls = [address for address in addresses(place) if address.is_api]
    record("api_access", table(place, calls, _API))
