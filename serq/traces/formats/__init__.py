"""Other people's traces: a module for each format, whose `read` gives turns of sessions."""
