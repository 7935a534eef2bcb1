"""Image caption metrics as published, with confidence intervals, comparisons and signatures.

    import captious
    report = captious.score(candidates, references, metrics=["bleu-4", "cider-d"])
    float(report["cider-d"]), report["cider-d"].interval, report["cider-d"].by_image

Public names are listed in ``__init__.pyi``. Each is imported on first use, so that ``import captious`` is fast.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def load_ipython_extension(shell: object) -> None:
    """``%load_ext captious`` in a notebook: later imports of toolkits are replaced, as by ``captious run``."""
    from captious.compat import install

    install()


def unload_ipython_extension(shell: object) -> None:
    """``%unload_ext captious``: later imports get the toolkits themselves."""
    from captious.compat import uninstall

    uninstall()
