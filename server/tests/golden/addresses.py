"""All addresses of the site: its URL patterns, filled from the small site of the record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product, zip_longest

from server.tests.golden.place import Place
from server.tests.security.test_access import all_routes

#: An image whose captions are public.
IMAGE = "1207"
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
#: The end of a pattern up to a parameter -> what stands for it there; in braces, what the site calls it.
_VALUES = {
    "challenges/<slug:slug>": ["open", "circle"],
    "drafts/<slug:slug>": ["open", "mine"],
    "submissions/<int:pk>": ["{public}", "{private}", "{queued}"],
    "captions/<path:image_id>": [IMAGE],
    "files/<path:name>": ["list.csv", "challenge.toml"],
    "scores/<slug:captions>": ["val", "test"],
    "/<slug:references>": ["c5"],
    "sign-in/with/<slug:provider_id>": ["nobody"],
    "tokens/<int:pk>": ["{token}"],
    "keys/<int:pk>": ["999999"],
    "invitations/<int:pk>": ["{open_invitation}"],
    "members/<int:pk>": ["{member}"],
    "webhooks/<int:pk>": ["{webhook}"],
    "account/address/<str:key>": ["wrong"],
    "teams/join/<str:token>": ["{invitation}", "wrong"],
    "teams/<slug:slug>": ["alpha"],
    "teams/<slug:team>": ["alpha"],
    "admin/r/<path:content_type_id>": ["1"],
    "admin/r/<path:content_type_id>/<path:object_id>": ["1"],
    "<path:object_id>": ["{first}"],
    "<id>": ["{first}"],
}
#: Patterns that are regular expressions -> an address of them.
_EXPRESSIONS = {
    r"^account/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[\w-]+)/$": ["account/reset/1-wrong/"],
    "admin/^(?P<app_label>captious)/$": ["admin/captious/"],
    "admin/(?P<url>.*)$": ["admin/nothing/"],
}
#: Addresses with queries.
WITH_QUERIES = [
    "/?page=2",
    "/challenges/open/leaderboard?phase=hidden",
    "/challenges/open/leaderboard?phase=main&references=val/c2&sort=-bleu-4&all=1",
    "/challenges/open/leaderboard?phase=nothing",
    "/challenges/open/leaderboard.json?phase=hidden",
    "/challenges/open/leaderboard.csv?phase=main&references=test/c5",
    "/challenges/open/compare?systems={public}&systems={second}",
    "/challenges/open/compare?systems={public}&systems={private}",
    "/challenges/open/captions?references=val/c5",
    "/challenges/open/captions?references=val/c5&systems={public}&systems={second}&order=difference",
    "/challenges/open/captions?references=test/c5",
    f"/challenges/open/captions/{IMAGE}?references=val/c5&text",
    f"/challenges/open/captions/{IMAGE}?references=test/c5",
    "/challenges/open/template?phase=main",
    "/challenges/open/template?phase=past",
    "/challenges/open/archive.zip?phase=main",
    "/challenges/open/archive.zip?public=1",
    "/challenges/open/archive.zip?phase=hidden&public=1",
    "/challenges/open/manage?status=failed",
    "/challenges/open/versions?phase=main",
    "/challenges/open/submit?phase=main&team=alpha",
    "/api/v1/challenges/open/leaderboard?phase=hidden",
    "/api/v1/challenges/open/leaderboard?sort=nothing",
    "/api/v1/challenges/open/compare?systems={public}&systems={second}",
    "/api/v1/challenges/open/files?file=list.csv",
    "/api/v1/challenges/open/template?phase=main",
    "/api/v1/challenges/open/quotas?team=alpha",
    "/api/v1/challenges/open/archive?phase=main",
    "/api/v1/challenges/open/archive?public=maybe",
    "/api/v1/challenges/open/submissions?page=0",
    "/api/v1/submissions/{public}/scores?references=val/c5",
    "/api/v1/submissions/{public}/scores?captions=val&references=c5",
    "/api/v1/submissions/{private}/scores?captions=val&references=c5",
]


@dataclass(frozen=True)
class Address:
    """An address as the record shows it, with names in braces, and as it is asked for."""

    name: str
    asked: str

    @property
    def is_api(self) -> bool:
        return self.name.startswith("/api/v1/")

    @property
    def is_administration(self) -> bool:
        return self.name.startswith("/admin/")


def patterns() -> list[str]:
    """The patterns of all URLs."""
    return [*dict.fromkeys(all_routes())]


def templates(pattern: str) -> list[str]:
    """Addresses of a pattern, with names in braces.

    Raises:
        KeyError: a parameter that ``_VALUES`` does not have.
    """
    if "(?P" in pattern:
        return [f"/{address}" for address in _EXPRESSIONS[pattern]]
    choices = []
    for match in _PARAMETER.finditer(pattern):
        before = pattern[: match.end()]
        ends = [end for end in _VALUES if before.endswith(end)]
        if not ends:
            raise KeyError(f"no value of {match.group()} in {pattern}")
        choices.append(_VALUES[max(ends, key=len)])
    pieces = _PARAMETER.split(pattern)[::2]
    return ["/" + "".join(map("".join, zip_longest(pieces, row, fillvalue=""))) for row in product(*choices)]


def filled(place: Place, template: str) -> Address:
    """The address of a template."""
    values = {**{name: str(pk) for name, pk in place.submissions.items()}, **place.values}
    if "{first}" in template:
        values["first"] = _first_row(place, template)
    asked = re.sub(r"{(.*?)}", lambda match: values[match[1]], template)
    return Address(template, asked)


def _first_row(place: Place, template: str) -> str:
    """The id of the first row of the table that an address of the administration is about."""
    from django.apps import apps

    _, _, app, model, *_ = template.split("/")
    row = apps.get_model(app, model).objects.order_by("pk").first()
    return "1" if row is None else str(row.pk)


def addresses(place: Place) -> list[Address]:
    """All addresses, in the order of the patterns; those with queries are last."""
    found = [template for pattern in patterns() for template in templates(pattern)]
    return [filled(place, template) for template in dict.fromkeys([*found, *WITH_QUERIES])]
