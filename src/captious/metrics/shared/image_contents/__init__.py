"""What is known about images without references: objects, word lists of AMBER, and mentions of objects."""
