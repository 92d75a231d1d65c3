"""Several witnesses side by side."""
