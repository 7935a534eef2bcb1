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

from captious.compat.redirection import install, redirected, uninstall
from captious.compat.replacement_log import replacements

__all__ = ["install", "redirected", "replacements", "uninstall"]
