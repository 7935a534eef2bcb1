"""How results are displayed: ``captious.report`` registers its renderers here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

__all__ = ["Displayed"]


class Displayed:
    """A result that shows as a table in a terminal and as HTML in a notebook, once ``captious.report`` is imported."""

    #: Renderers by kind: "rich" gives a renderable, "text" and "html" strings. Each takes a result of any kind.
    renderers: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def summary(self) -> str:
        """One line, for when there is no renderer."""
        return object.__repr__(self)

    def __repr__(self) -> str:
        render = self.renderers.get("text")
        return str(render(self)) if render else self.summary()

    def __rich__(self) -> Any:
        render = self.renderers.get("rich")
        return render(self) if render else self.summary()

    def _repr_html_(self) -> str | None:
        render = self.renderers.get("html")
        return str(render(self)) if render else None
