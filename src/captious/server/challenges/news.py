"""News of a challenge as HTML."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from captious.server.challenges.markdown_html import as_html
from captious.server.models import Challenge

_MAX_NEWS = 20


def news_of(challenge: Challenge) -> list[dict[str, Any]]:
    """The latest news as pages show them."""
    rows = challenge.news.all()[:_MAX_NEWS]
    return [{"row": row, "anchor": f"news-{row.pk}", "html": news_html(row.text)} for row in rows]


@lru_cache(maxsize=128)
def news_html(text: str) -> str:
    """News as HTML, cached for repeated visits."""
    return str(as_html(text, top_heading=4))
