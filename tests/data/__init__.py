"""Tests of captious.data."""
