"""Permissions: access, teams with invitations, tokens, rate limits, and the audit log."""
