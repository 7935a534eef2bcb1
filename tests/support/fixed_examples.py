"""The same examples of Hypothesis in every run."""

from __future__ import annotations

from hypothesis import settings
from hypothesis.internal.conjecture import providers


def draw_only_fixed_constants() -> None:
    """Let derandomized profiles draw no constants of the project's source code.

    Some of the values that Hypothesis draws are constants of the local modules that are loaded. Which ones are loaded
    depends on the tests that ran before in the same process, and so would the examples, even if they are derandomized.
    """
    none, of_modules = (getattr(providers, name, None) for name in ("_local_constants", "_get_local_constants"))
    if none is not None and of_modules is not None:  # not in old versions
        vars(providers)["_get_local_constants"] = lambda: none if settings().derandomize else of_modules()
