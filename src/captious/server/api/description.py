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
_FORM = "application/x-www-form-urlencoded"
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
    described = description()
    models = described["components"]["schemas"]
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
        for address, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = {
        name: {key: _linked(value, models) for key, value in schema.get("properties", {}).items()}
        for name, schema in models.items()
    }
    return render(request, "captious/api.html", {"calls": calls, "schemas": schemas, "described": described})


@cache
def description() -> dict[str, Any]:
    """The description, without the address of the server."""
    operations = [*_operations()]
    types = {id(each): each for *_, declared in operations for each in (declared.answer,) if not isinstance(each, str)}
    types |= {id(each): each for each in (ErrorAnswer, CheckAnswer)}
    mode: Literal["serialization"] = "serialization"
    adapters = [(key, mode, TypeAdapter(each)) for key, each in types.items()]
    refs, shared = TypeAdapter.json_schemas(adapters, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for address, method, parameters, name, declared in operations:
        answer = declared.answer
        content = answer if isinstance(answer, str) else "application/json"
        schema = {"type": "string"} if isinstance(answer, str) else refs[id(answer), "serialization"]
        error = {"application/json": {"schema": refs[id(ErrorAnswer), "serialization"]}}
        statuses = sorted({*map(str, declared.errors), "401", "429"})
        scopes = [] if method == "GET" else [declared.scope]
        operation: dict[str, Any] = {
            "operationId": f"{method.lower()}_{name}",
            "summary": declared.about,
            "parameters": parameters + [_parameter(each) for each in declared.parameters],
            "responses": {
                str(declared.status): {"description": declared.about, "content": {content: {"schema": schema}}},
                **{status: {"description": _ERRORS[status], "content": error} for status in statuses},
            },
            "security": [{"token": scopes}] if declared.needs_user else [{}, {"token": scopes}],
        }
        if declared.body:
            binary = {"type": "string", "format": "binary"}
            operation["requestBody"] = {"required": True, "content": {declared.body: {"schema": binary}}}
        if declared.form:
            operation["requestBody"] = {"required": True, "content": {_FORM: {"schema": _form(declared.form)}}}
        paths.setdefault(address, {})[method.lower()] = operation
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
            "schemas": shared["$defs"],
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
    [api] = [each for each in get_resolver().url_patterns if f"/{each.pattern}" == PREFIX]
    for pattern in api.url_patterns:
        view = pattern.callback
        route, parameters = str(pattern.pattern), []
        for kind, name in re.findall(r"<(\w+):(\w+)>", route):
            parameters.append({"name": name, "in": "path", "required": True, "schema": _TYPES[kind]})
        address = PREFIX + re.sub(r"<\w+:(\w+)>", r"{\1}", route)
        for method, declared in getattr(view, "declared", {}).items():
            yield address, method, parameters, view.__name__, declared


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.about,
        "required": parameter.is_required,
        "schema": {"type": parameter.type},
    }


def _form(parameters: Sequence[Parameter]) -> dict[str, Any]:
    properties = {each.name: {"type": each.type, "description": each.about} for each in parameters}
    required = [each.name for each in parameters if each.is_required]
    return {"type": "object", "properties": properties, "required": required}


def _form_of(operation: dict[str, Any]) -> dict[str, Any]:
    """The fields of the form that is the body of a call."""
    content = operation.get("requestBody", {}).get("content", {})
    fields: dict[str, Any] = content.get(_FORM, {}).get("schema", {}).get("properties", {})
    return fields


def _errors_of(operation: dict[str, Any]) -> dict[str, str]:
    return {
        status: answer["description"] for status, answer in operation["responses"].items() if not status.startswith("2")
    }


def _answer_of(operation: dict[str, Any], models: Container[str]) -> dict[str, str]:
    """The status of a successful call and its answer: a schema in a few words, or the media type of a file."""
    [(status, answer)] = [(each, answer) for each, answer in operation["responses"].items() if each.startswith("2")]
    [(kind, content)] = answer["content"].items()
    shown = _linked(content["schema"], models) if kind == "application/json" else {"words": kind, "model": ""}
    return {"status": status, **shown}


def _linked(schema: dict[str, Any], models: Container[str]) -> dict[str, str]:
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
