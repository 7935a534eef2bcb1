"""The folder ``evaluation.cider`` of the meshed-memory transformer's code."""

from captious.compat.meshed_memory.cider.cider import Cider

__all__ = ["Cider"]
