"""The folder ``pycocoevalcap.cider`` of the toolkit; forks import its class from here."""

from captious.compat.pycocoevalcap.cider.cider import Cider

__all__ = ["Cider"]
