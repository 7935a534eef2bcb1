"""Presentation of scores: leaderboards with ranks, comparisons of two submissions, captions of single images."""
