"""Challenges as folders: what ``challenge.toml`` says, checked with every file that it names.

Nothing here knows the database; ``loading.py`` takes what ``folder.check_folder`` returns.
"""
