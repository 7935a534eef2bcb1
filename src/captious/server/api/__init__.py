"""The API for programs, version 1: the same rules as the pages, in JSON, with a token instead of a session."""
