"""spaCy pipelines by name or folder (extra ``[parse]``): parsing and tagging in any language."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import Any

from captious.errors import MissingExtraError, ResourceError

__all__ = ["label_of", "load_pipeline"]


def load_pipeline(
    name: str | os.PathLike[str], *, for_what: str, any_of: Collection[str], without: Collection[str]
) -> Any:
    """A pipeline by its name (``en_core_web_sm``) if it is installed, or by its folder.

    A package that holds the folder of a pipeline, without being one itself, works as well.

    Args:
        for_what: what needs it, in human-readable form.
        any_of: components of which it must have one.
        without: components that are left out.

    Raises:
        MissingExtraError: spaCy is not installed.
        ResourceError: there is no such pipeline, or it has none of these components.
    """
    try:
        spacy: Any = import_module("spacy")
    except ImportError as error:
        raise MissingExtraError(
            f"{for_what} require the package spacy", help="pip install 'captious[parse]'"
        ) from error
    try:
        pipeline = spacy.load(_folder(str(name)) or name, exclude=list(without))
    except (OSError, ValueError, TypeError, AttributeError, ImportError) as error:  # whatever else has that name
        raise ResourceError(
            f"spaCy cannot load the pipeline {name}",
            where=str(error).splitlines()[0] if str(error) else "",
            help="give an installed pipeline or its folder; to get one: python -m spacy download en_core_web_sm",
        ) from error
    if not set(any_of) & set(pipeline.pipe_names):
        raise ResourceError(
            f"the pipeline {name} has no {' or '.join(any_of)}, which {for_what} need",
            where=f"it has {', '.join(pipeline.pipe_names) or 'nothing'}",
            help="choose one that does, such as en_core_web_sm",
        )
    return pipeline


def label_of(pipeline: Any) -> str:
    """Its own name, with its version."""
    meta = pipeline.meta
    return f"{meta['lang']}_{meta['name']}-{meta['version']}"


def _folder(name: str) -> Path | None:
    """The folder of a pipeline in a package that is not itself made to be loaded; None for anything else."""
    if Path(name).exists() or not name.isidentifier():
        return None
    package = importlib.util.find_spec(name)
    if package is None or not package.submodule_search_locations:
        return None
    place = Path(package.submodule_search_locations[0])
    if (place / "meta.json").is_file():  # as spaCy's own packages have it
        return None
    inside = sorted(meta.parent for meta in place.glob("*/meta.json") if (meta.parent / "config.cfg").is_file())
    return inside[0] if len(inside) == 1 else None
