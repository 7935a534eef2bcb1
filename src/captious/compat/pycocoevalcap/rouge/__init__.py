"""The folder ``pycocoevalcap.rouge`` of the toolkit; forks import its class from here."""

from captious.compat.pycocoevalcap.rouge.rouge import Rouge

__all__ = ["Rouge"]
