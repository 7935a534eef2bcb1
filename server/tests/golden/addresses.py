"""All addresses of the site: its URL patterns, filled from the small site of the record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product, zip_longest

from server.tests.golden.place import Place
from server.tests.security.test_access import all_routes
from tests.support.tables import tables

TABLES = tables(__file__)

#: An image whose captions are public.
IMAGE = "1207"
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
#: The end of a pattern up to a parameter -> what stands for it there; in braces, what the site calls it.
_VALUES = TABLES["values"]
#: Patterns that are regular expressions -> an address of them.
_EXPRESSIONS = {
    r"^account/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[\w-]+)/$": ["account/reset/1-wrong/"],
    "admin/^(?P<app_label>captious)/$": ["admin/captious/"],
    "admin/(?P<url>.*)$": ["admin/nothing/"],
}
#: Addresses with queries.
WITH_QUERIES = TABLES["with-queries"]


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
