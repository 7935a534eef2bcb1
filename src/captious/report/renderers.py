"""What results call to show themselves in a terminal and in a notebook; see ``captious.display``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from captious.evaluation import Comparison, GroupedComparison, GroupedReport, Report

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study

__all__ = ["html", "table", "text"]

Result: TypeAlias = "Report | Comparison | GroupedReport | GroupedComparison | Judgment | Study"


def table(result: Result) -> Any:
    """A result as rich prints it."""
    if isinstance(result, Report | Comparison):
        from captious.report.score_table import report_table
        from captious.report.tables import comparison_table

        return report_table([result]) if isinstance(result, Report) else comparison_table(result)
    if isinstance(result, GroupedReport | GroupedComparison):
        from captious.report.group_tables import grouped_comparison_table, grouped_report_table

        if isinstance(result, GroupedReport):
            return grouped_report_table([result])
        return grouped_comparison_table(result)
    from captious.judgment import Judgment  # imported only here, so that scoring captions does not wait for it
    from captious.report.judgment_tables import judgment_table, study_table

    return judgment_table(result) if isinstance(result, Judgment) else study_table(result)


def text(result: Result) -> str:
    """A result as plain text."""
    from captious.report.tables import as_text

    return as_text(table(result)).rstrip("\n")


def html(result: Result) -> str:
    """A result as HTML."""
    from captious.report.html import (
        comparison_html,
        grouped_comparison_html,
        grouped_report_html,
        judgment_html,
        report_html,
        study_html,
    )

    if isinstance(result, Report | Comparison):
        return report_html(result) if isinstance(result, Report) else comparison_html(result)
    if isinstance(result, GroupedReport | GroupedComparison):
        return grouped_report_html(result) if isinstance(result, GroupedReport) else grouped_comparison_html(result)
    from captious.judgment import Judgment

    return judgment_html(result) if isinstance(result, Judgment) else study_html(result)
