"""Tests of captious.data.storage."""
