"""Output of results as tables, files and pages. Presentation only: nothing here computes a score."""
