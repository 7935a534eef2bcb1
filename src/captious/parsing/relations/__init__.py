"""Relations between a constituent and the head of the constituent around it."""
