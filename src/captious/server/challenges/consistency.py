"""What the keys of ``challenge.toml`` say together: defaults that depend on other keys, and contradictions.

These functions take plain values of which any may be wrong, so that contradictions are found among the keys that are
right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from captious.server.challenges.problems import at
from captious.server.challenges.values import moment, outputs_of

__all__ = ["CAPTIONS", "completed", "cross_problems", "names_of", "tables"]

#: The output that ranks if the file names none and this is among the outputs.
RANKS = "cider-d"
#: The captions file of a challenge that describes none.
CAPTIONS = "captions"


def tables(data: Mapping[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The tables of a list with their positions, as far as they are tables."""
    given = data.get(name)
    for position, each in enumerate(given if isinstance(given, list | tuple) else ()):
        if isinstance(each, Mapping):
            yield position, dict(each)


def names_of(data: Mapping[str, Any], name: str) -> tuple[list[str], bool]:
    """The names of a list of tables, and whether these are all of them."""
    found = [each.get("name") for _, each in tables(data, name)]
    given = data.get(name)
    texts = [each for each in found if isinstance(each, str)]
    return texts, isinstance(given, list | tuple) and len(texts) == len(given)


def _outputs(data: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The outputs of those metrics that are valid, and whether all are."""
    given = data.get("metrics")
    labels: list[str] = []
    whole = isinstance(given, list | tuple)
    for each in given if isinstance(given, list | tuple) else ():
        try:
            labels += outputs_of(each) if isinstance(each, str) else ()
        except ValueError:
            whole = False
    return labels, whole


def completed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same definition with the defaults that depend on other keys."""
    data = dict(data)
    data.setdefault("captions", [{"name": CAPTIONS}])
    if isinstance(data["captions"], list | tuple) and len(data["captions"]) == 1:
        named = [{"name": CAPTIONS, **each} for _, each in tables(data, "captions")]
        data["captions"] = named or data["captions"]
    captions = [*dict.fromkeys(names_of(data, "captions")[0])]
    phases = [*dict.fromkeys(names_of(data, "phases")[0])]
    defaults: dict[str, dict[str, Any]] = {
        # Of captions files that are wrong, references need not say more than they do.
        "references": {} if len(captions) > 1 else {"captions": captions[0] if captions else CAPTIONS},
        "phases": {"captions": captions or [CAPTIONS]},
        "baselines": {"phases": phases or [""]},
    }
    for name, default in defaults.items():
        if isinstance(data.get(name), list | tuple):
            data[name] = [{**default, **each} if isinstance(each, Mapping) else each for each in data[name]]
    if isinstance(data.get("phases"), list):
        data["phases"] = [_with_title(each) if isinstance(each, Mapping) else each for each in data["phases"]]
    if "rank_by" not in data:
        outputs, _ = _outputs(data)
        data["rank_by"] = RANKS if RANKS in outputs or not outputs else outputs[-1]
    return data


def _with_title(phase: Mapping[str, Any]) -> dict[str, Any]:
    name = phase.get("name")
    return {"title": name if isinstance(name, str) else "?", **phase}


def cross_problems(data: Mapping[str, Any]) -> list[str]:
    """Problems between the keys of a completed definition, of which other keys may be wrong."""
    return [
        *_repeated_names(data),
        *_unknown_names(data),
        *_captions_problems(data),
        *_date_problems(data),
        *_output_problems(data),
    ]


def _repeated_names(data: Mapping[str, Any]) -> Iterator[str]:
    for name, keys in (
        ("texts", ("title",)),
        ("captions", ("name",)),
        ("references", ("captions", "name")),
        ("phases", ("name",)),
        ("baselines", ("method",)),
    ):
        seen: dict[tuple[object, ...], int] = {}
        for position, each in tables(data, name):
            values = tuple(each.get(key) for key in keys)
            if not all(isinstance(value, str) for value in values):
                continue
            if values in seen:
                first = at((name, seen[values]))
                yield f"{at((name, position, keys[-1]))}: {values[-1]!r} is also the {keys[-1]} of {first}"
            seen.setdefault(values, position)


def _unknown_names(data: Mapping[str, Any]) -> Iterator[str]:
    for name, key, target in (
        ("references", "captions", "captions"),
        ("phases", "captions", "captions"),
        ("baselines", "phases", "phases"),
    ):
        known, whole = names_of(data, target)
        if not whole:
            continue  # the name may be that of a table that is wrong
        for position, each in tables(data, name):
            given = each.get(key)
            listed: Sequence[object] = given if isinstance(given, list | tuple) else [given]
            for one in dict.fromkeys(value for value in listed if isinstance(value, str)):
                if one not in known:
                    what = "captions file" if target == "captions" else "phase"
                    yield f"{at((name, position, key))}: there is no {what} {one!r}; known are {', '.join(known)}"
            if len({*map(str, listed)}) != len(listed):
                yield f"{at((name, position, key))}: names one of them twice"


def _captions_problems(data: Mapping[str, Any]) -> Iterator[str]:
    judged, all_judged = _values_of(data, "references", "captions")
    used, all_used = _values_of(data, "phases", "captions")
    captions = [*tables(data, "captions")]
    patterns: dict[str, int] = {}
    for position, each in captions:
        name, pattern = each.get("name"), each.get("pattern", "*")
        place = at(("captions", position))
        if isinstance(name, str) and all_judged and name not in judged:
            yield f"{place}: no reference set judges {name!r}"
        if isinstance(name, str) and all_used and name not in used:
            yield f"{place}: no phase takes {name!r}"
        if len(captions) > 1 and pattern == "*":
            yield f"{place}.pattern: is required where there are several captions files"
        elif len(captions) > 1 and isinstance(pattern, str):
            if pattern in patterns:
                yield f"{place}.pattern: is also the pattern of {at(('captions', patterns[pattern]))}"
            patterns.setdefault(pattern, position)


def _values_of(data: Mapping[str, Any], name: str, key: str) -> tuple[set[object], bool]:
    """What a key holds in any table of a list, and whether it holds something in all of them."""
    given = data.get(name)
    found = [each.get(key) for _, each in tables(data, name)]
    listed = [value if isinstance(value, list | tuple) else [value] for value in found if value]
    whole = isinstance(given, list | tuple) and 0 < len(listed) == len(given)
    return {one for values in listed for one in values if isinstance(one, str)}, whole


def _date_problems(data: Mapping[str, Any]) -> Iterator[str]:
    for position, each in tables(data, "phases"):
        try:
            opens, closes = moment(each.get("opens")), moment(each.get("closes"))
        except ValueError:
            continue
        if opens is not None and closes is not None and closes <= opens:
            yield f"{at(('phases', position, 'closes'))}: must be later than opens"


def _output_problems(data: Mapping[str, Any]) -> Iterator[str]:
    outputs, whole = _outputs(data)
    for label in dict.fromkeys(label for label in outputs if outputs.count(label) > 1):
        yield f"metrics: {label} is requested twice"
    rank_by = data.get("rank_by")
    if isinstance(rank_by, str) and whole and outputs and rank_by not in outputs:
        yield f"rank_by: {rank_by!r} is not an output of the metrics; these are {', '.join(outputs)}"
