"""Tests of captious.data.reading."""
