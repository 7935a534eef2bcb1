"""Results to tables, files and pages. Presentation only: nothing here computes a score.

Importing this room teaches results to show themselves in a terminal and in a notebook.
"""

from __future__ import annotations

from typing import Any

from captious.evaluation import Comparison, Report

__all__: list[str] = []


def _table(result: Report | Comparison) -> Any:
    from captious.report.tables import comparison_table, report_table

    return report_table([result]) if isinstance(result, Report) else comparison_table(result)


def _text(result: Report | Comparison) -> str:
    from captious.report.tables import as_text

    return as_text(_table(result)).rstrip("\n")


def _html(result: Report | Comparison) -> str:
    from captious.report.html import comparison_html, report_html

    return report_html(result) if isinstance(result, Report) else comparison_html(result)


for _kind in (Report, Comparison):
    _kind.renderers.update(rich=_table, text=_text, html=_html)
