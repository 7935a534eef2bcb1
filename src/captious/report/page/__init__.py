"""Results as pages: one HTML file each, with its data, style and scripts inside, that loads nothing."""
