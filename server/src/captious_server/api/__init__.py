"""The foundation of the API: calls with their tokens and errors, and their description as OpenAPI.

``calls.toml`` declares all calls. Addresses, checks and ``/api/v1/openapi.json`` come from it. Users are named by
tokens, and errors are JSON.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from pydantic import BaseModel, TypeAdapter, model_validator

from captious.drawing import shortened
from captious.version import __version__
from captious_server.api import schemas
from captious_server.models import Challenge, Submission, Token
from captious_server.people.access import Call, ExplainedError
from captious_server.people.accounts import SCOPES, limit, token_of
from captious_server.settings import flag, token_in

# Calls: their parameters, failures and tokens.

_QUOTE_LENGTH = 100  # characters


class Failure(ExplainedError):
    """An answer that is an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Parameter(BaseModel, extra="forbid"):
    """A parameter of a call, in its query or in a header, or a field of its form."""

    about: str
    type: str = "string"
    required: bool = False
    place: str = "query"

    @model_validator(mode="before")
    @classmethod
    def _described(cls, data: Any) -> Any:
        return {"about": data} if isinstance(data, str) else data


class Operation(BaseModel, extra="forbid"):
    """One method of a call: its arguments and its answer, as ``calls.toml`` describes them."""

    view: str
    about: str
    answer: str
    status: int = 200
    parameters: dict[str, Parameter] = {}
    body: str = ""
    form: dict[str, Parameter] = {}
    needs_user: bool = False
    scope: str = "submit"
    everywhere: bool = False
    errors: list[int] = []

    @property
    def model(self) -> str:
        """The name of the type of the answer, or of its items; empty if the answer is a file."""
        return "" if "/" in self.answer else self.answer.removeprefix("list[").removesuffix("]")


#: Route -> method -> what it does.
_CALLS = TypeAdapter(dict[str, dict[str, Operation]]).validate_python(
    tomllib.loads(Path(__file__).with_name("calls.toml").read_text(encoding="utf-8"))
)


def paths() -> list[URLPattern]:
    """The addresses of all calls."""
    return [path(route, _call(methods)) for route, methods in _CALLS.items()]


def _call(methods: Mapping[str, Operation]) -> Callable[..., HttpResponseBase]:
    """The view of a call. Visitors without a token are anonymous; wrong tokens are refused."""
    views = {name: import_string(f"{__name__}.{operation.view}") for name, operation in methods.items()}

    @csrf_exempt
    def answer(request: Call, **parts: Any) -> HttpResponseBase:
        method = request.method or ""
        if method not in methods:
            raise Failure(405, f"Use {' or '.join(methods)}.")
        operation = methods[method]
        request.token = _token(request)
        if request.token is not None:
            request.user = request.token.user
            _check_token(request.token, method, operation, parts)
        elif operation.needs_user or method != "GET":
            raise Failure(401, "Send a token: Authorization: Bearer TOKEN. Create one on your account page.")
        if method != "GET":
            limit(request, "change")
        _check_names("query", request.GET, [n for n, row in operation.parameters.items() if row.place == "query"])
        if operation.form:
            _check_names("body", request.POST, operation.form)
        elif not operation.body and request.body:
            raise Failure(400, "This call reads no body. Send parameters in the query of its address.")
        request.flags = _flags(request, operation)
        return _answer(operation, views[method](request, **parts))

    answer.declared = methods  # type: ignore[attr-defined]  # what tests try with every call
    return answer


def _answer(operation: Operation, value: Any) -> HttpResponseBase:
    """What a view returns as JSON of the declared type: an answer, or a row that has its keys, or an iterable of these.

    Files, and answers with another status, stay as they are.
    """
    if isinstance(value, HttpResponseBase):
        return value
    rows = value if (is_list := operation.answer.startswith("list[")) else [value]
    kind = getattr(schemas, operation.model)
    answers = [row if isinstance(row, dict) else schemas.answer_from(kind, row) for row in rows]
    return JsonResponse(answers if is_list else answers[0], status=operation.status, safe=False)


def _token(request: HttpRequest) -> Token | None:
    """The token of a call. A session does not count here, so no other site can make a browser call the API."""
    request.user = AnonymousUser()
    authorization = request.headers.get("Authorization", "")
    if not authorization:
        return None
    text = token_in(authorization)
    token = None if text is None else token_of(text)
    if token is None:
        limit(request, "wrong token")
        raise Failure(401, "The token is invalid or has expired. Create a new one on your account page.")
    return token


def _check_token(token: Token, method: str, operation: Operation, parts: Mapping[str, Any]) -> None:
    """Refuse calls outside the scopes and the challenge of a token.

    Args:
        parts: captured parts of the address.
    """
    if method != "GET" and not token.may(operation.scope):
        raise Failure(403, f"This token does not have the scope {operation.scope!r}.")
    challenge: Challenge | None = token.challenge
    if challenge is None or operation.everywhere:
        return
    if "slug" in parts:
        is_within = parts["slug"] == challenge.slug
    else:
        is_within = "pk" in parts and Submission.objects.filter(pk=parts["pk"], phase__challenge=challenge).exists()
    if not is_within:
        raise Failure(403, f"This token is for the challenge {challenge.slug!r} only.")


def _check_names(place: str, names: Iterable[str], known: Collection[str]) -> None:
    """Refuse a call with a name that its query or body does not have, which may be a misspelled one."""
    for name in names:
        if name not in known:
            raise Failure(400, f"The {place} takes no {shortened(name)}; known are {', '.join(known) or 'none'}.")


def _flags(request: HttpRequest, operation: Operation) -> dict[str, bool]:
    """The parameters that are true or false, as far as they are given; 400 if one is neither."""
    flags = {}
    for name, parameter in operation.parameters.items():
        if parameter.type == "boolean" and name in request.GET:
            if (value := flag(request.GET[name])) is None:
                raise Failure(400, f"{name} must be true or false, not {request.GET[name][:_QUOTE_LENGTH]!r}.")
            flags[name] = value
    return flags


# The description of the API as OpenAPI 3.1, generated from the table of calls.

PREFIX = "/api/v1/"
_FORM_TYPE = "application/x-www-form-urlencoded"
_REF = "#/components/schemas/{model}"
_ERRORS = {
    "400": "A parameter is unknown or invalid.",
    "401": "The token is missing or invalid.",
    "403": "The token does not have the scope or is for another challenge, or the leaderboard is not shown.",
    "404": "It does not exist, or you do not have access to it.",
    "409": "It is not possible now; the error gives the reason.",
    "411": "Content-Length is missing.",
    "413": "The upload is too large.",
    "422": "The captions are not valid: `problems` lists everything that is wrong.",
    "429": "Too many requests: `Retry-After` says when to try again.",
}
_MODE: Literal["serialization"] = "serialization"
_TYPES = {"slug": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}, "int": {"type": "integer", "minimum": 0}}


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The description as OpenAPI JSON."""
    root = request.build_absolute_uri("/").rstrip("/")
    return JsonResponse({**description(), "servers": [{"url": root}]}, json_dumps_params={"indent": 1})


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The description as a page, which needs no other host and no script."""
    return render(request, "captious/api.html", {"document": description()})


@cache
def description() -> dict[str, Any]:
    """The description, without the address of the server."""
    names = {operation.model for methods in _CALLS.values() for operation in methods.values()} - {""}
    types = [
        (name, _MODE, TypeAdapter(getattr(schemas, name))) for name in sorted(names | {"ErrorAnswer", "CheckAnswer"})
    ]
    _, definitions = TypeAdapter.json_schemas(types, ref_template=_REF)
    calls = {PREFIX + re.sub(r"<\w+:(\w+)>", r"{\1}", route): _described(route) for route in _CALLS}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "captious evaluation server",
            "version": __version__,
            "description": "Challenges, submissions and leaderboards. Objects that the owner of a token may not see "
            "are answered with 404.",
        },
        "paths": calls,
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


def _described(route: str) -> dict[str, Any]:
    """The methods of a call as OpenAPI describes them."""
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": _TYPES[kind]}
        for kind, name in re.findall(r"<(\w+):(\w+)>", route)
    ]
    error = {"application/json": {"schema": {"$ref": _REF.format(model="ErrorAnswer")}}}
    entries = {}
    for method, operation in _CALLS[route].items():
        is_change, model = method != "GET", operation.model
        schema: dict[str, Any] = {"$ref": _REF.format(model=model)} if model else {"type": "string"}
        if operation.answer.startswith("list["):
            schema = {"type": "array", "items": schema}
        content = {"application/json" if model else operation.answer: {"schema": schema}}
        common = {400, 401, 429, *([403] if is_change else []), *([404] if in_path else [])}
        statuses = map(str, sorted(common.union(operation.errors)))
        scopes = [operation.scope] if is_change else []
        entry: dict[str, Any] = {
            "operationId": f"{method.lower()}_{operation.view.rpartition('.')[2]}",
            "summary": operation.about,
            "parameters": in_path + [_parameter(*pair) for pair in operation.parameters.items()],
            "responses": {
                str(operation.status): {"description": operation.about, "content": content},
                **{status: {"description": _ERRORS[status], "content": error} for status in statuses},
            },
            "security": [{"token": scopes}] if operation.needs_user or is_change else [{}, {"token": scopes}],
        }
        if operation.body:
            binary = {"type": "string", "format": "binary"}
            entry["requestBody"] = {"required": True, "content": {operation.body: {"schema": binary}}}
        if operation.form:
            entry["requestBody"] = {"required": True, "content": {_FORM_TYPE: {"schema": _form(operation.form)}}}
        entries[method.lower()] = entry
    return entries


def _parameter(name: str, parameter: Parameter) -> dict[str, Any]:
    return {
        "name": name,
        "in": parameter.place,
        "description": parameter.about,
        "required": parameter.required,
        "schema": {"type": parameter.type},
    }


def _form(fields: Mapping[str, Parameter]) -> dict[str, Any]:
    properties = {name: {"type": field.type, "description": field.about} for name, field in fields.items()}
    required = [name for name, field in fields.items() if field.required]
    return {"type": "object", "properties": properties, "required": required}
