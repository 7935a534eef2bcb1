"""``score`` and ``compare``: metrics run over captions, with intervals, paired tests and the reports they return.

Each name is imported when it is first used: scoring does not import what compares or streams.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
