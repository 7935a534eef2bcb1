"""Relations between the keys of ``challenge.toml``: defaults that depend on other keys, and contradictions.

These functions take plain values, any of which may be wrong, so that contradictions are found among the keys that are
right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from captious.server.challenges.challenge_metrics import directions_of, public_label
from captious.server.challenges.problems import at

#: The default output for ranking, in challenges that have it.
_DEFAULT_RANK_OUTPUT = "cider-d"
#: The captions file of a challenge that describes none.
CAPTIONS = "captions"


def tables(data: Mapping[str, Any], name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """The tables of a list with their positions; other entries are skipped."""
    return [(position, table) for position, table in enumerate(_list(data, name)) if isinstance(table, Mapping)]


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    return [*value] if isinstance(value, list | tuple) else []


def _texts(value: object) -> list[str]:
    """The texts in a value, which may be a text or a list of texts."""
    return [text for text in (value if isinstance(value, list | tuple) else [value]) if text and isinstance(text, str)]


def _column(data: Mapping[str, Any], name: str, key: str) -> tuple[list[str], bool]:
    """The texts that a key holds in the tables of a list, and whether every table has one."""
    cells = [_texts(table.get(key)) for _, table in tables(data, name)]
    return [text for texts in cells for text in texts], 0 < len(_list(data, name)) == sum(map(bool, cells))


def _outputs(data: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The outputs of valid metrics, and whether all metrics are valid."""
    labels: list[str] = []
    is_complete = True
    for text in _texts(_list(data, "metrics")):
        try:
            labels += directions_of(text)
        except ValueError:
            is_complete = False
    return labels, is_complete


def with_defaults(data: Mapping[str, Any]) -> dict[str, Any]:
    """A definition with the defaults that depend on other keys."""
    data = {"captions": [{}], **data}
    if len(_list(data, "captions")) == 1:
        _set_defaults(data, "captions", {"name": CAPTIONS})
    captions, _ = _column(data, "captions", "name")
    phases, _ = _column(data, "phases", "name")
    if len(set(captions)) < 2:
        _set_defaults(data, "references", {"captions": captions[0] if captions else CAPTIONS})
    _set_defaults(data, "phases", {"captions": [*dict.fromkeys(captions)] or [CAPTIONS]})
    _set_defaults(data, "baselines", {"phases": [*dict.fromkeys(phases)] or [""]})
    if "rank_by" not in data:
        outputs, _ = _outputs(data)
        data["rank_by"] = _DEFAULT_RANK_OUTPUT if _DEFAULT_RANK_OUTPUT in outputs or not outputs else outputs[-1]
    elif isinstance(data["rank_by"], str):
        data["rank_by"] = public_label(data["rank_by"])
    return data


def _set_defaults(data: dict[str, Any], name: str, defaults: Mapping[str, Any]) -> None:
    """Complete the tables of a list."""
    if rows := _list(data, name):
        data[name] = [{**defaults, **row} if isinstance(row, Mapping) else row for row in rows]


def cross_problems(data: Mapping[str, Any]) -> list[str]:
    """Contradictions between the keys of a completed definition, other keys of which may be invalid."""
    return [
        *_repeated_names(data),
        *_unknown_names(data),
        *_captions_problems(data),
        *_output_problems(data),
        *_terms_problems(data),
    ]


def _repeated_names(data: Mapping[str, Any]) -> Iterator[str]:
    for name, keys in (
        ("texts", ("title",)),
        ("downloads", ("file",)),
        ("captions", ("name",)),
        ("references", ("captions", "name")),
        ("phases", ("name",)),
        ("baselines", ("method",)),
    ):
        positions: dict[tuple[object, ...], int] = {}
        for position, table in tables(data, name):
            values = tuple(table.get(key) for key in keys)
            if not all(isinstance(value, str) for value in values):
                continue
            if (earlier := positions.setdefault(values, position)) != position:
                key = keys[-1]
                yield f"{at((name, position, key))}: {values[-1]!r} is also the {key} of {at((name, earlier))}"


def _unknown_names(data: Mapping[str, Any]) -> Iterator[str]:
    for name, key, target, kind in (
        ("references", "captions", "captions", "captions file"),
        ("phases", "captions", "captions", "captions file"),
        ("baselines", "phases", "phases", "phase"),
    ):
        names, is_complete = _column(data, target, "name")
        for position, table in tables(data, name):
            place, texts = at((name, position, key)), _texts(table.get(key))
            if name == "references" and not table.get(key):  # not completed where there are several captions files
                yield f"{place}: must name the captions file that it judges: {', '.join(names)}"
            for text in dict.fromkeys(texts):
                if is_complete and text not in names:  # otherwise it may be the name of an invalid table
                    yield f"{place}: there is no {kind} {text!r}; known are {', '.join(names)}"
            if len(set(texts)) < len(texts):
                yield f"{place}: has a duplicate name"


def _captions_problems(data: Mapping[str, Any]) -> Iterator[str]:
    reference_captions, knows_references = _column(data, "references", "captions")
    phase_captions, knows_phases = _column(data, "phases", "captions")
    phases = [{*_texts(table.get("captions"))} for _, table in tables(data, "phases")]
    patterns: dict[str, tuple[int, object]] = {}
    for position, table in tables(data, "captions"):
        name, pattern, place = table.get("name"), table.get("pattern", "*"), at(("captions", position))
        if not isinstance(name, str):
            continue
        if knows_references and name not in reference_captions:
            yield f"{place}: no reference set judges {name!r}"
        if knows_phases and name not in phase_captions:
            yield f"{place}: no phase takes {name!r}"
        companions = {companion for names in phases if name in names for companion in names} - {name}
        duplicates = [row for companion, (row, text) in patterns.items() if companion in companions and text == pattern]
        if companions and pattern == "*":
            yield f"{place}.pattern: is required where a phase takes several captions files"
        elif duplicates:
            yield f"{place}.pattern: is also the pattern of {at(('captions', duplicates[0]))}"
        patterns.setdefault(name, (position, pattern))


def _output_problems(data: Mapping[str, Any]) -> Iterator[str]:
    outputs, is_complete = _outputs(data)
    for label in dict.fromkeys(label for label in outputs if outputs.count(label) > 1):
        yield f"metrics: {label} is requested twice"
    rank_by = data.get("rank_by")
    if isinstance(rank_by, str) and is_complete and outputs and rank_by not in outputs:
        yield f"rank_by: {rank_by!r} is not an output of the metrics; these are {', '.join(outputs)}"


def _terms_problems(data: Mapping[str, Any]) -> Iterator[str]:
    titles, is_complete = _column(data, "texts", "title")
    terms = data.get("terms")
    if isinstance(terms, str) and terms and terms not in titles and (is_complete or not titles):
        yield f"terms: there is no text {terms!r}; known are {', '.join(titles) or 'none'}"
