"""Guards against programs that cannot go on: too many commands at one instant, preemptions that lead nowhere."""

from dataclasses import dataclass

from serq.base.source import Span
from serq.ir import program as p
from serq.semantics import errors
from serq.semantics.configuration import Session
from serq.semantics.scene import Frame, shown


@dataclass(frozen=True, slots=True)
class Limits:
    """When a program that cannot go on is stopped.

    `commands`: how many may run at one instant. `preemptions`: how many may follow each other without any hold being
    completed and without any hold reaching further than it ever did. `rejects`: whether a hold that can never fit is
    rejected, and a growth that can never fit stops the run; else both wait for ever, as they do in vLLM.
    """

    commands: int = 1_000_000
    preemptions: int = 20_000
    rejects: bool = True


class Progress:
    """Counts what happens without progress and stops the run when a limit is passed."""

    def __init__(self, frame: Frame, limits: Limits) -> None:
        self._frame = frame
        self.limits = limits
        self.commands_left = limits.commands
        self._ended = 0
        self._preemptions = 0

    def new_instant(self) -> None:
        """Time has passed."""
        self.commands_left = self.limits.commands
        self._ended = 0

    def ended(self) -> None:
        """A session ended at this instant."""
        self._ended += 1

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
        """The commands of this instant are used up: stop the run and say why."""
        time = shown(self._frame.world.now())
        closed = isinstance(self._frame.program.arrivals, p.Closed)
        if closed and self._ended > self.limits.commands // _COMMANDS_PER_SESSION:
            raise self._frame.scene.error(errors.EndlessReplacement(span=place, ended=self._ended, time=time))
        raise self._frame.scene.error(
            errors.ZeroTimeLoop(span=place, limit=self.limits.commands, time=time, session=session.serial)
        )


_COMMANDS_PER_SESSION = 10_000
"""Sessions that take up the commands of an instant by ending: at least one end in so many commands."""
