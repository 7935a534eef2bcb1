"""Scoring by workers: the lease on a submission's row, the scores and their files, and the loop that makes them."""
