"""Contents of pages about a challenge folder, which are the same for a loaded challenge and for a draft."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.utils.text import slugify

from captious.server.challenges.folder import CheckedChallenge
from captious.server.challenges.markdown_html import as_html


def shown_values(source: CheckedChallenge) -> dict[str, Any]:
    """Fields of ``Challenge`` as plain values: all but its slug, its version and its organizers."""
    definition = source.definition
    terms = next((source.texts[text.file] for text in definition.texts if text.title == definition.terms), "")
    return {
        "title": definition.title,
        "summary": definition.summary,
        "access": definition.access,
        "definition_values": definition.model_dump(mode="json"),
        "texts": shown_texts((text.title, source.texts[text.file]) for text in definition.texts),
        "downloads": [
            {
                **row.model_dump(),
                "size": (source.folder / row.file).stat().st_size,
                "sha256": source.checksums[Path(row.file).as_posix()],
            }
            for row in definition.downloads
        ],
        "terms_version": hashlib.sha256(terms.encode()).hexdigest()[:16] if definition.terms else "",
        "counts": {
            definition.key(row): len(source.references[row.captions, row.name]) for row in definition.references
        },
    }


def shown_texts(texts: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Texts of organizers, as ``Challenge.texts`` has them.

    Args:
        texts: the titles, each with the Markdown.
    """
    return [
        {"title": title, "slug": slugify(title) or f"text-{i}", "html": as_html(markdown)}
        for i, (title, markdown) in enumerate(texts, start=1)
    ]
