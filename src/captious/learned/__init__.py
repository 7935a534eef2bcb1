"""Trained metrics: feature sets, networks over them, weights, and training."""
