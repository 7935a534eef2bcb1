"""Submissions: uploads read safely, accepted within dates and quotas, and stored."""
