"""``fitted_resource``: what a metric is fitted to references for, and what is then written to a file."""

from __future__ import annotations

import os

Source = str | os.PathLike[str]
