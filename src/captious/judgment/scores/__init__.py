"""Scores of judged captions: computed, published, or sums of others."""
