"""Tests of captious.resources.grammars."""
