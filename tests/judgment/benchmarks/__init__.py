"""Tests of captious.judgment.benchmarks."""
