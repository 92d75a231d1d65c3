"""Clocks that ring, session by session: who did what at an instant of a program in which nothing but clocks happens."""

from collections.abc import Iterator
from functools import partial

from serq.base.errors import LimitError
from serq.semantics.continuous import BESIDE_CLOCKS
from serq.semantics.control import Control
from serq.semantics.decoding import Decoded
from serq.semantics.marked_events import Step, Telling, TellingWorld
from serq.semantics.records import Quotients, Record, State
from serq.semantics.timed_events import TimedEvents
from serq.semantics.timed_world import TimedWorld

_MARK = ("marked",)


class _TellingClocks(TellingWorld, TimedWorld):
    """The world of an explorer that keeps clocks, which also tells of every `set`."""


class MarkedClocks(Telling, TimedEvents):
    """The instants of a program with clocks and no exponential times, session by session.

    Of sessions that are alike it is still asked only how many end; the marked one is like nobody.
    """

    clocked_world_type = _TellingClocks

    def __init__(self, control: Control, quotients: Quotients, phase_type: int | None) -> None:
        super().__init__(control, quotients, phase_type)
        self._symmetry = quotients.symmetry
        self._marked = False

    def steps(self, state: State, marked: bool) -> Iterator[Step]:
        """What may come of the next instant at which clocks ring: a state lasts until then, so it has one rate.

        The marked session's record stands first, where there is one. LimitError where exponential events happen.
        """
        if self.arrival is not None or self._in_service(state):
            raise LimitError(BESIDE_CLOCKS)
        clocks = self.clocks(state)
        if clocks:
            self._marked = marked
            rate = 1 / min(clock.left for clock in clocks)
            yield from self._steps(1, self.laws.symbol(str(rate), rate), partial(self._ring, state))

    def everything(self, state: State, marked: bool) -> Iterator[Step]:
        """Whatever may happen next, exponential events among it: what rates they have is not said."""
        clocks = self.clocks(state)
        self._marked = marked
        if clocks:
            yield from self._steps(1, -1, partial(self._ring, state))
        self._world.between = bool(clocks)
        yield from self._exponential(state, marked)
        self._world.between = False

    def _enter(self, state: State) -> Decoded:
        decoded = super()._enter(state)
        self._before = tuple(decoded.configuration.sessions.values())
        return decoded

    def _likeness(self, decoded: Decoded, state: State) -> dict[int, Record]:
        alike = super()._likeness(decoded, state)
        mark = decoded.jobs[0] if self._marked else None
        if mark is not None and mark.session is not None:
            alike[mark.session.serial] = alike[mark.session.serial]._replace(more=_MARK)
        return alike
