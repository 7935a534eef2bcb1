"""Template filters of the server's pages."""
