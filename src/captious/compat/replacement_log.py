"""The log of replacements in a program: one event for each replacement or refusal, from all of its processes.

A program started by ``captious run`` appends events to the file named in an environment variable, one line each;
other programs keep them in memory, for ``replacements``. An event includes the process, and what it runs.
"""

from __future__ import annotations

import ast
import os
import shlex
import sys
from collections.abc import Iterable
from typing import Any

from captious.compat.hook import write_event

#: Folders of a toolkit, below its package.
_FOLDERS = frozenset({"bleu", "cider", "ciderd", "meteor", "rouge", "spice", "tokenizer"})

Event = dict[str, Any]
_events: list[Event] = []


def add(event: str, **values: str) -> None:
    """Add an event, unless it is already present; the arguments are those of ``hook.write_event``."""
    known = {"event": event, **values, "process": os.getpid()}
    if not any(known.items() <= record.items() for record in _events):
        _events.append(_with_program(write_event(event, **values)))


def replacements() -> list[Event]:
    """Return what was replaced in this process, and what was not."""
    return [*_events]


def read(path: str) -> list[Event]:
    """Read the events that processes have written, in order."""
    with open(path, encoding="ascii") as lines:
        return [_with_program(ast.literal_eval(line)) for line in lines]


def _with_program(event: Event) -> Event:
    """Return an event with its command line in one text."""
    words = event.pop("words")
    return {**event, "program": shlex.join(words)}


def summary(events: Iterable[Event], named: Iterable[str] = (), *, copies: bool = True) -> list[str]:
    """Summarize events as lines for the terminal, each once even if several processes report it.

    Args:
        events: events of all processes.
        named: prefixes that were to be replaced.
        copies: whether copies of toolkits were searched for.
    """
    by_kind: dict[str, list[Event]] = {}
    for event in events:
        by_kind.setdefault(event["event"], []).append(event)
    replaced, refusals, toolkits = (by_kind.get(kind, []) for kind in ("replaced", "kept", "toolkit"))
    stays = {_class_in_process(event) for event in refusals}  # put back after it was replaced
    replaced = [event for event in replaced if _class_in_process(event) not in stays]
    lines = [f"{event['prefix']} is {event['by']}" for event in toolkits]
    lines += [f"{event['module']}.{event['name']} is computed by captious.compat.{event['by']}" for event in replaced]
    lines += [
        f"warning: {each['module']}.{each['name']} is not replaced: {each['reason']} ({each['file']}{_advice(each)})"
        for each in refusals
    ]
    lines += [f"warning: {event['reason']}" for event in by_kind.get("ignored", [])]
    lines += [
        f"warning: {event['python']} does not have captious: nothing was replaced there"
        for event in by_kind.get("without captious", [])
    ]
    imported = {event["prefix"] for event in toolkits}
    lines += [f"warning: {name} was never imported, so it was not replaced" for name in named if name not in imported]
    if lines or "java" in by_kind:
        return [*dict.fromkeys(lines)]
    if "started" not in by_kind:
        lines.append(
            "warning: no Python reported what it imports: it was not started, or not with this PYTHONPATH "
            "(write PYTHONPATH=...:$PYTHONPATH), or with -I or -E"
        )
    elif not copies:
        lines.append(
            "nothing was replaced: no pycocoevalcap or pyciderevalcap was imported in the processes that reported; "
            "captious run without --whole replaces copies of other names, too"
        )
    else:
        lines.append(
            "nothing was replaced: no toolkit and no copy of one was recognized in the processes that reported; "
            "captious run --replace NAME=TOOLKIT names one"
        )
    return lines


def _advice(event: Event) -> str:
    """Return the option that replaces the whole package of a class, for those who know better."""
    words = event["module"].split(".")[:-1]
    while words and words[-1].lower() in _FOLDERS:
        words.pop()
    if not words:
        return ""
    toolkit = event.get("toolkit", "pycocoevalcap")
    name = ".".join(words) if words[-1] == toolkit else f"{'.'.join(words)}={toolkit}"
    return f"; captious run --replace {name} replaces all of it"


def _class_in_process(event: Event) -> tuple[object, ...]:
    return event["process"], event["module"], event["name"]


def print_summary(named: Iterable[str] = ()) -> None:
    """Report on standard error what happened in this process, if anything did."""
    if any(event["event"] != "started" for event in _events):
        for line in summary(_events, named):
            print(f"captious: {line}", file=sys.stderr)
