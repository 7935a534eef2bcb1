"""Tests of captious.evaluation.caption_checks."""
