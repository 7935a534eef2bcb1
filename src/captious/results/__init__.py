"""How results describe themselves: as tables and pictures, which ``captious.report`` shows in every format."""
