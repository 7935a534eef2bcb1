"""Reading captions: readers for files and Python objects, validation, and the ``Captions`` table.

``load(candidates, references)`` does it all at once. To score several systems against the same images, read
the references once with ``read_references`` and give the result to every ``load``: what the metrics compute about the
references is then computed once.
"""

from captious.data.caption_sets import CaptionSets
from captious.data.captions import CandidateLayer, Captions, KeyedByFields, Layer, ReferenceLayer, References
from captious.data.groups import Groups, read_groups
from captious.data.ids import ImageId, same_images
from captious.data.matching import images_of, load, match, match_several, read_references
from captious.data.prepared import recorded, write_prepared
from captious.data.rows import CaptionRows
from captious.data.sources import read_rows
from captious.data.storing import StorableLayer, Stored, stored_key

__all__ = [
    "CandidateLayer",
    "CaptionRows",
    "CaptionSets",
    "Captions",
    "Groups",
    "ImageId",
    "KeyedByFields",
    "Layer",
    "ReferenceLayer",
    "References",
    "StorableLayer",
    "Stored",
    "images_of",
    "load",
    "match",
    "match_several",
    "read_groups",
    "read_references",
    "read_rows",
    "recorded",
    "same_images",
    "stored_key",
    "write_prepared",
]
