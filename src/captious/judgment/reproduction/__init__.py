"""``reproduce``: the tables of papers, computed and compared with the published figures."""
