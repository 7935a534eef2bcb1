"""What several studies use, and nothing else does."""
