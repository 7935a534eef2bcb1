"""``score`` and ``compare``: metrics over captions, with intervals, paired tests and reports.

Each name is imported on first use, so scoring does not import comparisons or streams.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
