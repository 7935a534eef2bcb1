"""Record of the files that a wheel of the server holds besides Python sources."""

from __future__ import annotations

from pathlib import Path

import captious_server
from tests.golden.record import Record
from tests.golden.test_wheel_contents import files


def test_files_of_the_package_are_as_recorded(record: Record) -> None:
    record("wheel", files(Path(captious_server.__file__).parent))
