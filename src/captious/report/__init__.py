"""Results to tables, files and pages. Presentation only: nothing here computes a score.

Importing this room teaches results to show themselves in a terminal and in a notebook.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from captious.evaluation import Comparison, Report
from captious.evaluation.display import Displayed

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study

__all__: list[str] = []

Result: TypeAlias = "Report | Comparison | Judgment | Study"


def _table(result: Result) -> Any:
    if isinstance(result, Report | Comparison):
        from captious.report.tables import comparison_table, report_table

        return report_table([result]) if isinstance(result, Report) else comparison_table(result)
    from captious.judgment import Judgment  # only here: whoever scores captions should not wait for it
    from captious.report.judgment_tables import judgment_table, study_table

    return judgment_table(result) if isinstance(result, Judgment) else study_table(result)


def _text(result: Result) -> str:
    from captious.report.tables import as_text

    return as_text(_table(result)).rstrip("\n")


def _html(result: Result) -> str:
    from captious.report.html import comparison_html, judgment_html, report_html, study_html

    if isinstance(result, Report | Comparison):
        return report_html(result) if isinstance(result, Report) else comparison_html(result)
    from captious.judgment import Judgment

    return judgment_html(result) if isinstance(result, Judgment) else study_html(result)


Displayed.renderers.update(rich=_table, text=_text, html=_html)
