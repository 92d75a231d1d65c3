"""Questions that need several solved or simulated programs."""
