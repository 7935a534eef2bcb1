"""The folder ``pycocoevalcap.wmd`` of the fork mtanti/coco-caption; forks import its class from here."""

from captious.compat.pycocoevalcap.wmd.wmd import WMD

__all__ = ["WMD"]
