"""Scene graphs of captions: objects, their attributes and the relations between them, after SPICE."""
