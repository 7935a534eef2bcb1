"""Formats of dates in Django's templates, by language."""
