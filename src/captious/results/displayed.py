"""Display of results in terminals and notebooks, as Markdown, LaTeX, CSV, data frames and pictures.

A result only describes itself as a table (``captious.results.table``); output formats are imported when they are used.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict, TypeVar, Unpack, cast

from captious.entry_points import did_you_mean
from captious.errors import ParameterError, UnknownNameError, needed_for
from captious.results.table import IntervalStyle, Table

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure

Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)


def optional_library(name: str) -> Any:
    """Import a library that has an extra of the same name.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needed_for("a data frame", name):
        return import_module(name)


#: The module that shows tables; imported when the first result is shown.
_RENDERER = "captious.report.formats"


class TableOptions(TypedDict, total=False):
    """Options of ``to_table`` for some results.

    Args:
        intervals: show 95% intervals of scores.
        examples: number of images to show below a comparison, those on which the systems differ most.
    """

    intervals: bool
    examples: int


class Displayed:
    """A result that is shown as a table in terminals and as HTML in notebooks, and exported for papers and programs.

    ``options`` of all methods are those of ``to_table``, which differ between results.
    """

    def to_table(self) -> Table:
        """Return the result as a table, which every format can show."""
        raise NotImplementedError

    def _table(self, **options: Unpack[TableOptions]) -> Table:
        own = inspect.signature(self.to_table).parameters
        if foreign := next((name for name in options if name not in own), None):
            takes = f"its options are {', '.join(own)}" if own else "it has no options"
            raise ParameterError(f"the table of a {type(self).__name__} has no option {foreign!r}", help=takes)
        table: Table = cast(Any, self).to_table(**options)
        return table

    def __repr__(self) -> str:
        return str(_formats().plain_text(self.to_table())).rstrip("\n")

    def __rich__(self) -> object:
        return _formats().rich_text(self.to_table())

    def _repr_html_(self) -> str:
        return str(_formats().notebook_html(self.to_table()))

    def _ipython_key_completions_(self) -> list[object]:
        return [*self] if isinstance(self, Mapping) else []

    def to_markdown(
        self,
        *,
        percent: bool = False,
        naming: Literal["captious", "toolkit", "paper"] = "captious",
        transpose: bool = False,
        **options: Unpack[TableOptions],
    ) -> str:
        """Return the table as Markdown.

        Args:
            percent: multiply scores by 100 and show one decimal.
            naming: names of metrics: those of captious, of the COCO toolkit (CIDEr), or abbreviations of papers (C).
            transpose: exchange rows and columns.

        Raises:
            UnknownNameError: unknown ``naming``.
        """
        presentation = {"percent": percent, "naming": naming, "transpose": transpose}
        return str(_formats().presented(self._table(**options), "markdown", **presentation))

    def to_latex(
        self,
        *,
        percent: bool = False,
        naming: Literal["captious", "toolkit", "paper"] = "captious",
        transpose: bool = False,
        interval_style: IntervalStyle = "beside",
        **options: Unpack[TableOptions],
    ) -> str:
        """Return the table as LaTeX, a tabular for the package booktabs.

        Args:
            percent, naming, transpose: as for ``to_markdown``.
            interval_style: intervals "beside" scores, "below" them, or as their "subscript".

        Raises:
            UnknownNameError: unknown ``naming`` or style.
        """
        presentation = {"percent": percent, "naming": naming, "transpose": transpose, "interval_style": interval_style}
        return str(_formats().presented(self._table(**options), "latex", **presentation))

    def to_csv(self, **options: Unpack[TableOptions]) -> str:
        """Return all numbers, unrounded, one record per line.

        Args:
            options: those of ``to_table``.
        """
        return str(_formats().csv(self._table(**options)))

    def to_pandas(self, **options: Unpack[TableOptions]) -> pandas.DataFrame:
        """Return all numbers as a pandas frame, with the records of ``to_csv``.

        Args:
            options: those of ``to_table``.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return optional_library("pandas").DataFrame([*self._table(**options).records])

    def to_polars(self, **options: Unpack[TableOptions]) -> polars.DataFrame:
        """Return all numbers as a polars frame, with the records of ``to_csv``.

        Args:
            options: those of ``to_table``.

        Raises:
            MissingExtraError: polars is not installed.
        """
        records = [*self._table(**options).records]
        return optional_library("polars").DataFrame(records, strict=False, infer_schema_length=None)  # type: ignore[no-any-return]

    def plot(self, name: str | None = None) -> Figure:
        """Plot the result as a matplotlib figure.

        Args:
            name: which picture, for a result that has several; by default the first.

        Raises:
            MissingExtraError: matplotlib is not installed.
            UnknownNameError: no picture of this name.
            ParameterError: the result has no pictures.
        """
        figure: Figure = _formats().plot(self._pictured(), name)
        return figure

    def _pictured(self) -> Table:
        """Return the table with the pictures that ``plot`` draws."""
        return self.to_table()


class DisplayedMapping(Displayed, Mapping[Key, Value]):
    """An ordered mapping of named parts; ``name in result`` also accepts aliases.

    Subclasses set ``_parts``, and return the error for an unknown name from ``_unknown``.
    """

    _parts: dict[Key, Value]
    #: The problem of an unknown name, with {name!r}, and what precedes the known names.
    _unknown: ClassVar[tuple[str, str]]

    def label_of(self, name: object) -> Key | None:
        """Return the name of a part for one of its aliases; None if there is no such part."""
        return name if name in self._parts else None

    def __getitem__(self, name: Key) -> Value:
        label = self.label_of(name)
        if label is None:
            problem, listing = self._unknown
            names = [*map(str, self._parts)]
            help = f"{did_you_mean(name, names)}{listing} {', '.join(names)}"
            raise UnknownNameError(problem.format(name=name), help=help)
        return self._parts[label]

    def __contains__(self, name: object) -> bool:
        return self.label_of(name) is not None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def _formats() -> Any:
    return import_module(_RENDERER)
