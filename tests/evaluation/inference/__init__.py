"""Tests of captious.evaluation.inference."""
