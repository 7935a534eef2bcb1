"""Where the real captions and reference outputs are that no test may take for granted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

#: Beside the project, or where CAPTIOUS_SHARED_DATA says.
DATA = Path(os.environ.get("CAPTIOUS_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
with_data = pytest.mark.skipif(not DATA.is_dir(), reason="no shared_data")
