"""A program as a picture: its deployment, and the way that a session takes through it."""
