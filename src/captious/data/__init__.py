"""Reading captions: readers for files and Python objects, validation, and the ``Captions`` table.

``read_captions(candidates, references)`` does it all at once. To score several systems against the same images, read
the references once with ``read_references`` and give the result to every ``read_captions``: what the metrics compute
about the references is then computed once.

Public names are listed in ``__init__.pyi``. Each is imported when it is first used.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
