"""Results as pages: one HTML file each, which holds its data, style and scripts, and loads nothing."""
