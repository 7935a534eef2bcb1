"""Models behind an endpoint as judges of captions: prompts, questions, and the interpretation of answers."""
