"""The evaluation server: organizers keep the references, teams upload captions."""
