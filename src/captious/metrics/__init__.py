"""One file for a metric, or for a family that shares its code.

``contract`` defines what a metric is, ``shared`` holds code used by several.
"""
