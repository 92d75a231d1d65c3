"""Guards against programs that cannot go on: too many commands at one instant, preemptions that lead nowhere."""

from serq.base.source import Span
from serq.ir import program as p
from serq.semantics import errors
from serq.semantics.configuration import Session
from serq.semantics.limits import Limits, beginners
from serq.semantics.scene import Frame, shown


class Progress:
    """Counts what happens without progress and stops the run when a limit is passed."""

    def __init__(self, frame: Frame, limits: Limits) -> None:
        self._frame = frame
        self.limits = limits
        self.commands_left = limits.commands
        self._ended = 0
        self._preemptions = 0
        arrivals = frame.program.arrivals
        self._most_ends: int | None = None
        if isinstance(arrivals, p.Closed):
            self._most_ends = p.whole(arrivals.population) + limits.replacements

    def beginning(self) -> int:
        """Time 0: how many sessions run their first commands."""
        self.new_instant()
        sessions = beginners(self._frame.program, self.limits)
        self.commands_left += self.limits.first_commands * sessions
        return sessions

    def new_instant(self) -> None:
        """Time has passed."""
        self.commands_left = self.limits.commands
        self._ended = 0

    def ended(self, place: Span) -> None:
        """A session ended at this instant, at that place."""
        self._ended += 1
        if self._most_ends is not None and self._ended > self._most_ends:
            time = shown(self._frame.world.now())
            raise self._frame.scene.error(errors.EndlessReplacement(span=place, ended=self._ended, time=time))

    def made(self) -> None:
        """Something was achieved that no preemption can undo."""
        self._preemptions = 0

    def preempted(self, session: Session, pool: str, hold: Span, further: bool) -> None:
        """A session was preempted; `further` when its hold had come further than ever before."""
        self._preemptions = 0 if further else self._preemptions + 1
        if self._preemptions > self.limits.preemptions:
            raise self._frame.scene.error(
                errors.Livelock(span=hold, session=session.serial, pool=pool, count=self._preemptions)
            )

    def exhausted(self, session: Session, place: Span) -> None:
        """The commands of this instant are used up: stop the run and say where."""
        time = shown(self._frame.world.now())
        raise self._frame.scene.error(
            errors.ZeroTimeLoop(span=place, limit=self.limits.commands, time=time, session=session.serial)
        )
