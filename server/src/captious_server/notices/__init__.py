"""Notices: mail to users who asked for it, and signed webhooks of organizers, sent by workers until they arrive."""
