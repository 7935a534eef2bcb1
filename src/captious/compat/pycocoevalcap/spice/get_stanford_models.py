"""What downloads CoreNLP in the toolkit, ``pycocoevalcap.spice.get_stanford_models``; captious does not need it."""

__all__ = ["get_stanford_models"]


def get_stanford_models() -> None:
    """Does nothing. ``captious resources get spice-grammar`` fetches the official grammar."""
