"""Common parts of all API calls: users are named by tokens, errors are JSON, and arguments are declared.

``/api/v1/openapi.json`` is generated from the declarations, so it cannot differ from the views.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from captious.server.models import Challenge, Submission, Token
from captious.server.people.addresses import token_in
from captious.server.people.rate_limits import limit
from captious.server.people.secrets import token_of
from captious.server.request_values import flag

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
