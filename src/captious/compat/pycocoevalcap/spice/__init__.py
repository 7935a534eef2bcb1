"""The folder ``pycocoevalcap.spice`` of the toolkit; forks import its class from here."""

from captious.compat.pycocoevalcap.spice.spice import Spice

__all__ = ["Spice"]
