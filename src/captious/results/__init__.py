"""Tables and pictures of results, which ``captious.report`` shows in every format."""
