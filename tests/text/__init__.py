"""Tests of captious.text."""
