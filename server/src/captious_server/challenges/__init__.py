"""Challenges as folders: ``challenge.toml``, checked with every file that it names.

Only ``loading`` and ``references`` use the database.
"""
