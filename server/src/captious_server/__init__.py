"""The evaluation server: organizers keep the references, teams upload captions."""

__version__ = "0.1.0"
