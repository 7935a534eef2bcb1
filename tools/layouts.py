"""The tables of layouts and of names on docs/input-formats.md, which tables.py writes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from captious.data.layouts import LAYOUTS, DenseCaptions, Layout, ListsByKey
from captious.data.records import ID_FIELDS, TEXT_FIELDS


def layouts_table() -> str:
    """Return the layouts of data sets, and what is worth knowing about them."""
    layouts = [layout for layout in LAYOUTS if not layout.on_request and layout.answer is None]
    rows = ["| layout | files | recognized by | id | captions | split |", "|---|---|---|---|---|---|"]
    for layout in layouts:
        ids = ", otherwise ".join(code(name.split("+")) for name in layout.ids)
        captions = either_of([code(name.split()) for name in layout.captions])
        split = code([layout.split]) if has_splits(layout) else ""
        rows.append(f"| {layout.name} | {layout.files} | {marks(layout)} | {ids} | {captions} | {split} |")
    notes = [f"- {layout.name}: {layout.note}" for layout in layouts if layout.note]
    wrapped = (textwrap.fill(note, 120, subsequent_indent="  ", break_on_hyphens=False) for note in notes)
    return "\n".join([*rows, "", *wrapped])


def logs_table() -> str:
    """Return the layouts of logs."""
    rows = ["| `--from` | files | recognized by | references |", "|---|---|---|---|"]
    for layout in LAYOUTS:
        if layout.answer is not None:
            keys = "".join(f'`"{key}"`, ' for key in layout.keys)
            fields = [*dict.fromkeys((*layout.ids, *layout.fields))]
            answers = either_of([code([name]) for name in layout.captions if name not in fields])
            choices = [either_of([code([one]) for one in name.split("|")]) for name in fields]
            marks = keys + ", ".join(filter(None, [*choices, answers]))
            has_references = "in the log" if layout.has_references else "in a file of their own"
            note = f". {layout.note}" if layout.note else ""
            rows.append(f"| `{layout.option}` | {layout.files} | {marks} | {has_references}{note} |")
    return "\n".join(rows)


def names_table() -> str:
    """Return the names that fields and columns usually have."""
    rows = ["| | accepted names, in order of priority |", "|---|---|"]
    for what, groups in (
        ("image", ID_FIELDS),
        ("candidate", TEXT_FIELDS["candidates"]),
        ("references", TEXT_FIELDS["references"]),
    ):
        rows.append(f"| {what} | {'; otherwise '.join(map(code, groups))} |")
    return "\n".join(rows)


def has_splits(layout: Layout) -> bool:
    return layout.splits_apart and layout.records is not None and not isinstance(layout.records, DenseCaptions)


def marks(layout: Layout) -> str:
    """Return the keys that identify a layout: of the document, or of its first record."""
    match layout.records:
        case DenseCaptions():
            return '`timestamps` and `sentences` of each video, or `"results"` with `timestamp` and `sentence`'
        case ListsByKey(field):
            keys = f"lists by {field}, "
        case _:
            keys = "".join(f'`"{key}"`, ' for key in layout.keys)
    fields = [name for name in layout.fields if name not in (*layout.ids, *layout.captions)]
    fields += layout.ids[0].split("+") if len(layout.ids) == 1 else []
    fields += layout.captions[0].split()[:1] if len(layout.captions) == 1 else []
    either = f", {either_of([code([name]) for name in layout.captions])}" if len(layout.captions) > 1 else ""
    return keys + code(dict.fromkeys(fields)) + either


def either_of(names: list[str]) -> str:
    """Return names to choose from; of many, the first ones and the last."""
    return " or ".join(names if len(names) < 5 else [", ".join([*names[:3], "..."]), names[-1]])


def code(names: Iterable[str]) -> str:
    """Return names, of which those with a number stand for several."""
    return ", ".join(f"`{name.replace('#', '1')}`, ..." if "#" in name else f"`{name}`" for name in names)
