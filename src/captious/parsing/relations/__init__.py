"""How a constituent depends on the head of the constituent around it."""
