"""captious.judgment.papers: the tables and figures of papers."""
