"""The description of the API: complete, and true of what the calls answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.urls import resolve
from pydantic import TypeAdapter

from captious_server.api import schemas
from server.tests.security.test_access import addresses, all_routes
from server.tests.security.world import World, upload


@pytest.fixture(scope="module")
def description(world: World) -> dict[str, Any]:
    answer: dict[str, Any] = world.as_user("visitor").get("/api/v1/openapi.json").json()
    return answer


def refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        value = [*value.values()]
    if isinstance(value, list):
        for item in value:
            yield from refs(item)


def test_description_has_every_call(world: World, description: dict[str, Any]) -> None:
    routes = {route for route in all_routes() if route.startswith("api/v1/") and route != "api/v1/openapi.json"}
    assert {re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{route}") for route in routes} == set(description["paths"])
    assert description["openapi"] == "3.1.0"
    names = [operation["operationId"] for methods in description["paths"].values() for operation in methods.values()]
    assert len(names) == len({*names}) == 38


def test_description_is_consistent(description: dict[str, Any]) -> None:
    for ref in refs(description):
        assert ref.rpartition("/")[2] in description["components"]["schemas"], ref
    for address, methods in description["paths"].items():
        for operation in methods.values():
            in_address = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
            assert in_address == {*re.findall(r"{(\w+)}", address)}
            assert operation["summary"].endswith(".")
            assert operation["responses"]


def test_answers_match_the_schemas(world: World) -> None:
    """Every answer of every role has exactly the keys and types of its schema."""
    seen = set()
    for address in addresses(world, api=True):
        declared = getattr(resolve(address.partition("?")[0]).func, "declared", {})
        for method, each in declared.items():
            if not each.model:
                continue
            for role in ("visitor", "ann"):
                with world.rollback():
                    values = {"method": "Mine", "filename": "captions.zip", "phase": "main", "team": role}
                    about = urlencode({name: text for name, text in values.items() if name in each.parameters})
                    query = f"{'&' if '?' in address else '?'}{about}" if method == "POST" and about else ""
                    body = upload() if address.endswith("/submissions") and method == "POST" else b""
                    if address.endswith("/delete"):
                        continue  # as it removes files; see test_calls.py
                    response = world.call(role, method, address + query, body)
                    content = b"".join(response.streaming_content) if response.streaming else response.content
                kind = eval(each.answer, vars(schemas)) if response.status_code < 300 else schemas.ErrorAnswer
                if response.status_code != 404 or content.startswith(b"{"):
                    TypeAdapter(kind).validate_json(content, strict=False)
                if response.status_code >= 400:
                    known = {*each.errors, 400, 401, 404, 429}
                    assert response.status_code in known, (method, address, response.status_code)
                else:
                    assert response.status_code in {each.status, 200}
                    seen.add((method, each.about))
    assert len(seen) == 22


def test_api_page_lists_every_call_and_loads_nothing_external(world: World, description: dict[str, Any]) -> None:
    text = world.as_user("visitor").get("/api/").content.decode()
    for address in description["paths"]:
        assert address in text
    for name in description["components"]["schemas"]:
        assert f'<h3 id="{name}">{name}</h3>' in text
    assert {*re.findall(r'href="#(\w+Answer)"', text)} <= {*description["components"]["schemas"]}
    of_quotas = text.partition('id="get_quotas"')[2].partition("</section>")[0]
    assert '<p>Answer: 200, <a href="#QuotaAnswer">list of QuotaAnswer</a></p>' in " ".join(of_quotas.split())
    assert re.findall(r'(?:src|href)="(?:https?:)?//', text) == []
