"""Tests of captious.learned.networks."""
