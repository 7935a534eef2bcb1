"""Metrics that are trained: sets of features, networks over them, their weights, and how they are made."""
