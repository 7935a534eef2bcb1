"""Drop-in replacements for other toolkits: code written for one of them runs after changing its import.

``captious.compat.pycocoevalcap`` stands in for the COCO caption toolkit. A replacement keeps the other toolkit's names,
arguments, return types and printed lines; what is computed, and how, is captious's own.
"""
