"""Explanations of scores: their values, how they are laid out, and what draws them."""
