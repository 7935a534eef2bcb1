"""Errors of commands: text and exit status, for each kind of wrong input."""

from __future__ import annotations

import pytest

from tests.golden.command_line import Shell
from tests.golden.inputs import WRONG
from tests.golden.record import Record
from tests.support.tables import tables

TABLES = tables(__file__)

#: Commands that read captions, with {} for the file that is wrong, by the name of their record.
READERS = TABLES["readers"]


#: Other wrong requests.
REQUESTS = TABLES["requests"]
FILES = ["none.json", "long", *WRONG]


@pytest.mark.parametrize("name", READERS)
def test_errors_of_wrong_files_are_as_recorded(name: str, shell: Shell, record: Record) -> None:
    lines = [template.format(file) for template in READERS[name] for file in FILES]
    record(f"errors/{name}", {line: shell.run(line, [r"\[Errno \d+\]"]) for line in lines})


@pytest.mark.parametrize("name", REQUESTS)
def test_errors_of_wrong_requests_are_as_recorded(name: str, shell: Shell, record: Record) -> None:
    record(f"errors/requests/{name}", {line: shell.run(line, [r"\[Errno \d+\]"]) for line in REQUESTS[name]})
