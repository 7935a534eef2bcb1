"""The tables and figures of papers on metrics. One file per paper, and their last results in measured/."""
