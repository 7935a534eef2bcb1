"""Tests of captious.resources.vectors."""
