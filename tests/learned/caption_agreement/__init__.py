"""Tests of captious.learned.caption_agreement."""
