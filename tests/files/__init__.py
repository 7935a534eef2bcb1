"""Tests of captious.files."""
