"""What a caption says about a scene: objects, their attributes and relations between them, after SPICE."""
