"""Image caption metrics as published, with confidence intervals, comparisons and signatures.

    import captious
    report = captious.score(candidates, references, metrics=["bleu-4", "cider-d"])
    float(report["cider-d"]), report["cider-d"].interval, report["cider-d"].by_image

Public names are listed in ``__init__.pyi``. Each is imported on first use, so that ``import captious`` is fast.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    """Return a public name, after the first one by the functions that ``lazy_loader`` makes of the stub."""
    import lazy_loader

    of_stub, _, names = lazy_loader.attach_stub(__name__, __file__)
    globals().update(__getattr__=of_stub, __all__=names)
    return names if name == "__all__" else of_stub(name)


def __dir__() -> list[str]:
    return sorted(globals().get("__all__") or __getattr__("__all__"))


def load_ipython_extension(shell: object) -> None:
    """``%load_ext captious`` in a notebook: later imports of toolkits are replaced, as by ``captious run``."""
    from captious.compat import install

    install()


def unload_ipython_extension(shell: object) -> None:
    """``%unload_ext captious``: later imports get the toolkits themselves."""
    from captious.compat import uninstall

    uninstall()
