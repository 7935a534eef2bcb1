"""What a caption says of a scene: objects, their attributes and relations between them, after SPICE."""
