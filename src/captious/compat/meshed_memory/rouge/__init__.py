"""The folder ``evaluation.rouge`` of the meshed-memory transformer's code."""

from captious.compat.meshed_memory.rouge.rouge import Rouge

__all__ = ["Rouge"]
