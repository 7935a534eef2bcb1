"""challenge.toml as written by the site: keys in the order of the docs, and no comments."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tomlkit

from captious.server.challenges.definition import TABLES, ChallengeDefinition

_HEADER_COMMENT = "# A challenge of a captious evaluation server. docs/challenges.md describes every key.\n"
#: Keys that begin a group, with an empty line before them.
_GROUP_STARTS = ("organized_by", "terms", "image_url", "metrics")
_ORDER = [*ChallengeDefinition.model_fields]
_LINE_LENGTH = 100


def tidy_toml(values: Mapping[str, Any]) -> str:
    """A challenge.toml with these values, which ``tomllib`` reads from it again."""
    return f"{_HEADER_COMMENT}\n{tidy_tables(values)}"


def tidy_tables(values: Mapping[str, Any]) -> str:
    """Values in the order and form in which a challenge.toml has them."""
    tables = {name: row for name, row in values.items() if isinstance(row, Mapping)}
    lists = {name: rows for name, rows in values.items() if _is_list_of_tables(rows)}
    groups: list[list[str]] = [[]]
    current = 0
    for key in _in_order([key for key in values if key not in tables and key not in lists], _ORDER):
        group = sum(_place(key, _ORDER) >= _ORDER.index(first) for first in _GROUP_STARTS)
        if group != current and groups[-1]:
            groups.append([])
        current = group
        groups[-1].append(_line(key, values[key]))
    groups += [[f"[{_key(name)}]", *_lines(tables[name], ())] for name in _in_order(tables, _ORDER)]
    groups += [
        [f"[[{_key(name)}]]", *_lines(row, [*TABLES[name].model_fields] if name in TABLES else ())]
        for name in _in_order(lists, _ORDER)
        for row in lists[name]
    ]
    return "\n".join("\n".join([*lines, ""]) for lines in groups if lines)


def is_tidy(text: str) -> bool:
    """Return whether a challenge.toml is as ``tidy_toml`` writes it, without text of an organizer to be kept."""
    return tidy_toml(tomllib.loads(text)) == text


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _place(key: str, order: list[str]) -> int:
    return order.index(key) if key in order else len(order)


def _in_order(keys: Iterable[str], order: list[str]) -> list[str]:
    return sorted(keys, key=lambda key: _place(key, order))


def _lines(table: Mapping[str, Any], order: Iterable[str]) -> Iterator[str]:
    return (_line(key, table[key]) for key in _in_order(table, [*order]))


def _key(name: str) -> str:
    return tomlkit.key(name).as_string()


def _line(key: str, value: object) -> str:
    item: Any = tomlkit.item(value)
    if isinstance(value, str) and "\n" in value and "\r" not in value:
        item = tomlkit.string(value, multiline=True)
    elif isinstance(value, list) and len(item.as_string()) > _LINE_LENGTH:
        item = item.multiline(True)
    return f"{_key(key)} = {item.as_string()}"
