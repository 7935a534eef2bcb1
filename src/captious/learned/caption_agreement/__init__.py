"""Agreement of captions with references, for the metric ``captious``: alignment, features, weights, encoder heads."""
