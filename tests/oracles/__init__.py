"""Slow, obvious metrics in plain Python, which the kernels are held against.

Each is written from the published definition, over lists of tokens, with loops and counters; none shares code with
the package.
"""
