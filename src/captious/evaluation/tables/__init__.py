"""Scores and differences as tables and pictures."""
