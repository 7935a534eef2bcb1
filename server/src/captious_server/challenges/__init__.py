"""Challenges as folders: ``challenge.toml``, checked with every file that it names.

Only ``challenge_store`` and ``reference_cache`` know the database.
"""
