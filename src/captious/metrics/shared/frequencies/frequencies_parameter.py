"""Document frequencies as a parameter of metrics: an object, a file, or those of the package."""

from __future__ import annotations

import os
from functools import cache

from captious.errors import ParameterError
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies
from captious.resources.coco_val import FILE, NAME


def as_frequencies(idf: DocumentFrequencies | str | os.PathLike[str]) -> DocumentFrequencies:
    """Return document frequencies; "coco" for those of the package, and another name for a file.

    Raises:
        ParameterError: neither frequencies nor a path.
        ResourceError: as ``DocumentFrequencies.load``.
    """
    if isinstance(idf, str | os.PathLike):
        return _coco_val() if os.fspath(idf) == NAME else DocumentFrequencies.load(idf)
    if not isinstance(idf, DocumentFrequencies):
        raise ParameterError(
            f"{idf!r:.60} does not hold document frequencies",
            help="give a file that 'captious fit cider-d' wrote, or captious.DocumentFrequencies",
        )
    return idf


@cache
def _coco_val() -> DocumentFrequencies:
    """Return the frequencies of the package, without n-grams of a single image, which have the same weight as unknown
    ones.
    """
    return DocumentFrequencies.load(FILE)


class FrequenciesParameter(
    ResourceParameter[DocumentFrequencies | str | os.PathLike[str] | None, DocumentFrequencies | None]
):
    """Document frequencies, or a file of them; None to count those of the references."""

    def __init__(self, *, default: None = None) -> None:
        super().__init__(
            default=default,
            read=as_frequencies,
            keep_none=True,
            summary="document frequencies: a file, or coco (COCO's validation images); none to count the references",
            signature_key="",  # the counted corpus is known only after the fit
        )
