"""The folder ``pycocoevalcap.bleu`` of the toolkit; forks import its class from here."""

from captious.compat.pycocoevalcap.bleu.bleu import Bleu

__all__ = ["Bleu"]
