"""The description of the API as OpenAPI 3.1, generated from the addresses and declarations of its views."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import cache
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import get_resolver
from django.views.decorators.http import require_safe
from pydantic import TypeAdapter

from captious.server.api.answers import ErrorAnswer
from captious.server.api.calls import Operation, Parameter
from captious.server.api.submission_answers import CheckAnswer
from captious.server.people.secrets import SCOPES
from captious.version import __version__

PREFIX = "/api/v1/"
_FORM_TYPE = "application/x-www-form-urlencoded"
_REF = "#/components/schemas/{model}"
_ERRORS = {
    "400": "A parameter is invalid.",
    "401": "The token is missing or invalid.",
    "403": "The token does not have the scope or is for another challenge, or the leaderboard is not shown.",
    "404": "It does not exist, or you do not have access to it.",
    "409": "It is not possible now; the error gives the reason.",
    "411": "Content-Length is missing.",
    "413": "The upload is too large.",
    "422": "The captions are not valid: `problems` lists everything that is wrong.",
    "429": "Too many requests: `Retry-After` says when to try again.",
}
_TYPES = {"slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}, "int": {"type": "integer", "minimum": 0}}


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The description as OpenAPI JSON."""
    root = request.build_absolute_uri("/").rstrip("/")
    return JsonResponse({**description(), "servers": [{"url": root}]}, json_dumps_params={"indent": 1})


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The description as a page, which needs no other host and no script."""
    document = description()
    models = document["components"]["schemas"]
    calls = [
        operation
        | {
            "method": method.upper(),
            "address": address,
            "answer": _answer_of(operation, models),
            "errors": _errors_of(operation),
            "form": _form_of(operation),
            "scopes": operation["security"][-1]["token"],
        }
        for address, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = {
        name: {key: _schema_words(value, models) for key, value in schema.get("properties", {}).items()}
        for name, schema in models.items()
    }
    return render(request, "captious/api.html", {"calls": calls, "schemas": schemas, "document": document})


@cache
def description() -> dict[str, Any]:
    """The description, without the address of the server."""
    operations = [*_operations()]
    types = {
        id(answer_type): answer_type
        for *_, operation in operations
        for answer_type in (operation.answer,)
        if not isinstance(answer_type, str)
    }
    types |= {id(answer_type): answer_type for answer_type in (ErrorAnswer, CheckAnswer)}
    mode: Literal["serialization"] = "serialization"
    adapters = [(key, mode, TypeAdapter(answer_type)) for key, answer_type in types.items()]
    refs, definitions = TypeAdapter.json_schemas(adapters, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for address, method, parameters, name, operation in operations:
        answer = operation.answer
        content = answer if isinstance(answer, str) else "application/json"
        schema = {"type": "string"} if isinstance(answer, str) else refs[id(answer), "serialization"]
        error = {"application/json": {"schema": refs[id(ErrorAnswer), "serialization"]}}
        is_change = method != "GET"
        common = {401, 429, *([403] if is_change else []), *([404] if "{" in address else [])}
        statuses = map(str, sorted(common.union(operation.errors)))
        scopes = [operation.scope] if is_change else []
        entry: dict[str, Any] = {
            "operationId": f"{method.lower()}_{name}",
            "summary": operation.about,
            "parameters": parameters + [_parameter(answer_type) for answer_type in operation.parameters],
            "responses": {
                str(operation.status): {"description": operation.about, "content": {content: {"schema": schema}}},
                **{status: {"description": _ERRORS[status], "content": error} for status in statuses},
            },
            "security": [{"token": scopes}] if operation.needs_user or is_change else [{}, {"token": scopes}],
        }
        if operation.body:
            binary = {"type": "string", "format": "binary"}
            entry["requestBody"] = {"required": True, "content": {operation.body: {"schema": binary}}}
        if operation.form:
            entry["requestBody"] = {"required": True, "content": {_FORM_TYPE: {"schema": _form(operation.form)}}}
        paths.setdefault(address, {})[method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "captious evaluation server",
            "version": __version__,
            "description": "Challenges, submissions and leaderboards. Objects that the owner of a token may not see "
            "are answered with 404.",
        },
        "paths": paths,
        "components": {
            "schemas": definitions["$defs"],
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token from the account page. Its scopes say what it may do besides reading: "
                    + "; ".join(f"{name} ({about[0].lower()}{about[1:]})" for name, about in SCOPES.items()),
                }
            },
        },
    }


def _operations() -> Iterator[tuple[str, str, list[dict[str, Any]], str, Operation]]:
    """Address, method, parameters of the address, name and declaration of every call."""
    [api] = [
        resolver_pattern for resolver_pattern in get_resolver().url_patterns if f"/{resolver_pattern.pattern}" == PREFIX
    ]
    for resolver_pattern in api.url_patterns:
        view = resolver_pattern.callback
        route, parameters = str(resolver_pattern.pattern), []
        for kind, name in re.findall(r"<(\w+):(\w+)>", route):
            parameters.append({"name": name, "in": "path", "required": True, "schema": _TYPES[kind]})
        address = PREFIX + re.sub(r"<\w+:(\w+)>", r"{\1}", route)
        for method, operation in getattr(view, "declared", {}).items():
            yield address, method, parameters, view.__name__, operation


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.about,
        "required": parameter.is_required,
        "schema": {"type": parameter.type},
    }


def _form(parameters: Sequence[Parameter]) -> dict[str, Any]:
    properties = {parameter.name: {"type": parameter.type, "description": parameter.about} for parameter in parameters}
    required = [parameter.name for parameter in parameters if parameter.is_required]
    return {"type": "object", "properties": properties, "required": required}


def _form_of(operation: dict[str, Any]) -> dict[str, Any]:
    """The fields of the form that is the body of a call."""
    content = operation.get("requestBody", {}).get("content", {})
    return content.get(_FORM_TYPE, {}).get("schema", {}).get("properties", {})


def _errors_of(operation: dict[str, Any]) -> dict[str, str]:
    return {
        status: answer["description"] for status, answer in operation["responses"].items() if not status.startswith("2")
    }


def _answer_of(operation: dict[str, Any], models: Container[str]) -> dict[str, str]:
    """The status of a successful call and its answer: a schema in a few words, or the media type of a file."""
    [(status, answer)] = [(code, answer) for code, answer in operation["responses"].items() if code.startswith("2")]
    [(kind, content)] = answer["content"].items()
    words = _schema_words(content["schema"], models) if kind == "application/json" else {"words": kind, "model": ""}
    return {"status": status, **words}


def _schema_words(schema: dict[str, Any], models: Container[str]) -> dict[str, str]:
    """A schema in a few words, and the model among them that the page describes; "" if there is none."""
    words = _type_of(schema)
    return {"words": words, "model": next((word for word in words.split() if word in models), "")}


def _type_of(schema: dict[str, Any]) -> str:
    """A schema in a few words: "integer or null", "list of PhaseAnswer"."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(_type_of, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_type_of(schema['items'])}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type_of(schema['additionalProperties'])}"
    return str(schema.get("format", schema.get("type", "")))
