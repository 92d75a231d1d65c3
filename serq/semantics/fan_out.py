"""Several recorders that are told the same."""

from collections.abc import Callable, Sequence
from typing import Any

from serq.semantics.world import Recorder

EVENTS = tuple(name for name in vars(Recorder) if not name.startswith("_"))
"""The names of everything that a recorder is told."""


class FanOut(Recorder):
    """Passes every event on to each of its parts, in their order; parts that do not listen cost nothing."""

    def __init__(self, parts: Sequence[Recorder]) -> None:
        for event in EVENTS:
            deaf = getattr(Recorder, event)
            heard = [getattr(part, event) for part in parts if getattr(type(part), event) is not deaf]
            setattr(self, event, _all(heard))


def _all(listeners: Sequence[Callable[..., Any]]) -> Callable[..., None]:
    if len(listeners) == 1:
        return listeners[0]

    def tell(*arguments: Any) -> None:
        for listener in listeners:
            listener(*arguments)

    return tell
