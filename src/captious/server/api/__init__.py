"""The API: its calls, the answers they give, and the description of both as OpenAPI."""
