"""The folder ``evaluation.bleu`` of the meshed-memory transformer's code."""

from captious.compat.meshed_memory.bleu.bleu import Bleu

__all__ = ["Bleu"]
