"""Tests of captious.metrics."""
