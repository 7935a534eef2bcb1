"""The evaluation server: organisers keep the references, teams upload captions."""
