"""Properties of captions that make scores misleading: their detection, ``check``, and warnings."""
