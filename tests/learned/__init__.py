"""Tests of captious.learned."""
