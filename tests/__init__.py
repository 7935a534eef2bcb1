"""Tests of captious, in folders that mirror src/captious."""
