"""Drop-in replacements for other toolkits: code written for one of them runs on captious, unchanged.

``captious.compat.pycocoevalcap`` stands in for the COCO caption toolkit, ``pyciderevalcap`` for the code of CIDEr's
authors, ``meshed_memory`` for the package ``evaluation`` of the meshed-memory transformer, ``aac_metrics`` for
aac-metrics. A replacement keeps the other toolkit's names, arguments, return types and printed lines; the
implementation is captious's own. ``torchmetrics`` and ``evaluate_modules`` adapt the metrics to the interfaces of those
packages.

``install()`` redirects imports of the toolkit to its replacement, and ``captious run SCRIPT`` does so for a whole
program. Both recognize copies of a toolkit under other names, with ``copies``. ``replacements()`` lists what was
replaced.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from captious.compat.redirection import install, redirected, uninstall
    from captious.compat.replacement_log import replacements

__all__ = ["install", "redirected", "replacements", "uninstall"]

_MODULES = {**dict.fromkeys(("install", "redirected", "uninstall"), "redirection"), "replacements": "replacement_log"}


def __getattr__(name: str) -> object:
    """Import a name on first use, as ``captious run`` needs none of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
