"""The foundation of the API: how calls are declared, and the OpenAPI description that is generated from them.

Users are named by tokens, errors are JSON, and arguments are declared. ``/api/v1/openapi.json`` is generated from the
declarations, so it cannot differ from the views.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import get_resolver
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe
from pydantic import TypeAdapter

from captious.version import __version__
from captious_server.api.schemas import CheckAnswer, ErrorAnswer
from captious_server.models import Challenge, Submission, Token
from captious_server.people.accounts import SCOPES, limit, token_of
from captious_server.settings import flag, token_in

# Calls: their parameters, failures and tokens.

View = Callable[..., HttpResponse]
_QUOTE_LENGTH = 100  # characters


class Failure(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, message: str, **details: Any) -> None:
        super().__init__(message)
        self.answer = JsonResponse({"error": message, **details}, status=status)


class Parameter(NamedTuple):
    """A parameter of a call, in its query or in a header."""

    name: str
    about: str
    type: str = "string"
    is_required: bool = False
    place: str = "query"


@dataclass(frozen=True)
class Operation:
    """One method of a call: its arguments and its answer.

    Args:
        about: summary in one sentence.
        answer: type of the JSON answer; a media type if the answer is a file.
        status: HTTP status of the answer.
        parameters: parameters in the query and in headers; those in the path are known from the address.
        body: media type of the body, if there is one.
        form: fields of a form in the body, which keeps them out of access logs.
        needs_user: whether a GET requires a token, as every POST does.
        scope: scope that a token needs for a POST, one of ``SCOPES``.
        everywhere: whether a token for one challenge is accepted, although the address names no challenge.
        errors: statuses of errors, in addition to 401 and 429, to 403 of every POST, and to 404 of every address with
            parameters.
    """

    about: str
    answer: Any
    status: int = 200
    parameters: Sequence[Parameter] = ()
    body: str = ""
    form: Sequence[Parameter] = ()
    needs_user: bool = False
    scope: str = "submit"
    everywhere: bool = False
    errors: Sequence[int] = ()


def call(**methods: Operation) -> Callable[[View], View]:
    """Make a view of the API for these methods. Visitors without a token are anonymous; wrong tokens are refused."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @functools.wraps(view)
        def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                if request.method not in methods:
                    raise Failure(405, f"Use {' or '.join(methods)}.")
                operation = methods[request.method]
                request.token = _token(request)
                if request.token is not None:
                    request.user = request.token.user
                    _check_token(request.token, request.method, operation, kwargs)
                elif operation.needs_user or request.method != "GET":
                    raise Failure(401, "Send a token: Authorization: Bearer TOKEN. Create one on your account page.")
                for parameter in operation.parameters:
                    if parameter.type == "boolean":
                        is_true(request, parameter.name, default=False)
                return view(request, *args, **kwargs)
            except Failure as failure:
                return failure.answer

        wrapper.declared = methods
        return wrapper

    return decorate


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


def is_true(request: HttpRequest, name: str, *, default: bool) -> bool:
    """A parameter that is true or false; 400 if it is neither."""
    text = request.GET.get(name)
    if text is None:
        return default
    value = flag(text)
    if value is None:
        raise Failure(400, f"{name} must be true or false, not {text[:_QUOTE_LENGTH]!r}.")
    return value


# The description of the API as OpenAPI 3.1, generated from the addresses and declarations of its views.

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
    return render(request, "captious/api.html", {"document": description()})


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
