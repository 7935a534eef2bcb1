"""Drop-in replacements for other toolkits: code written for one of them runs on captious, unchanged.

``captious.compat.pycocoevalcap`` stands in for the COCO caption toolkit, ``pyciderevalcap`` for the code of CIDEr's
authors, ``meshed_memory`` for the package ``evaluation`` of the meshed-memory transformer, ``aac_metrics`` for
aac-metrics. A replacement keeps the other toolkit's names, arguments, return types and printed lines; what is computed,
and how, is captious's own. ``torchmetrics`` and ``evaluate_modules`` give the metrics the form of those packages.

``install()`` leads the toolkit's own dotted paths there, and ``captious run SCRIPT`` does so for a whole program. Both
recognize copies of a toolkit under other names, in ``copies``. ``replacements()`` says what was replaced.
"""

from captious.compat.redirection import install, redirected, uninstall
from captious.compat.replacement_log import replacements

__all__ = ["install", "redirected", "replacements", "uninstall"]
