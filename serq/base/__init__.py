"""Files, positions, diagnostics and error classes: the standard library only."""
