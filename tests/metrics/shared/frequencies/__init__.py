"""Tests of captious.metrics.shared.frequencies."""
