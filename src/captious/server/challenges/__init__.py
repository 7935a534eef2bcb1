"""Challenges as folders: what ``challenge.toml`` says, checked with every file that it names.

Only ``loading`` and ``prepared`` know the database.
"""
