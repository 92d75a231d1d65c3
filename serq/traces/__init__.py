"""Recorded sessions: reading traces, and making them from other people's formats."""
