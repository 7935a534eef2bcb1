"""Small JSON files named by users."""

from __future__ import annotations

import json
from typing import Any

from captious.errors import CaptiousError, ResourceError


def text_as_json(text: str, where: str, help: str, damaged: type[CaptiousError] = ResourceError) -> Any:
    """Parse the document in a text.

    Raises:
        CaptiousError: of the class ``damaged``: it is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(f"this is not JSON: {error}", where=where, help=help) from error
