"""Results to tables, files and pages. Presentation only: nothing here computes a score."""
