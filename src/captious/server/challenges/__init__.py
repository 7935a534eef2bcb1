"""Challenges as folders: what ``challenge.toml`` says, checked with every file that it names.

Nothing here but ``loading`` and ``prepared`` knows the database; both take what ``folder.check_folder`` returns.
"""
