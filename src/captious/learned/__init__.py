"""Metrics that were trained: their weights, and what computes scores from them."""
