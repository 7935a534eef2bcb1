"""Tests of captious.native."""
