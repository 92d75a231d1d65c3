"""For how many events a call of machine code goes on: as many as an interrupt may wait for."""

FIRST = 16
_SHORT, _LONG = 0.02, 0.2
"""Seconds."""


class Stride:
    """The number of events of the next call. What a run does depends on it in nothing."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.events = min(FIRST, most)

    def took(self, seconds: float) -> None:
        """The last call took so long: the next one is longer where that was short, and shorter where it was long."""
        if seconds < _SHORT:
            self.events = min(4 * self.events, self.most)
        elif seconds > _LONG:
            self.events = max(self.events // 4, 1)
