"""Drop-in faces of other toolkits: code written for one of them runs by changing its import.

``captious.compat.pycocoevalcap`` stands in for the COCO caption toolkit. A face keeps the other toolkit's names,
arguments, return types and printed lines; what is computed, and how, is captious's own.
"""
