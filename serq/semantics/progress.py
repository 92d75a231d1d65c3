"""Guards against programs that cannot go on: too many commands at one instant, preemptions that lead nowhere."""

from dataclasses import dataclass

from serq.base.errors import LimitError
from serq.base.source import Span
from serq.ir import program as p
from serq.semantics import errors
from serq.semantics.configuration import Session
from serq.semantics.scene import Frame, shown


@dataclass(frozen=True, slots=True)
class Limits:
    """When a program that cannot go on is stopped.

    `commands`: how many may run at one instant; at time 0 there are `first_commands` more for every session of a closed
    population or a batch, as all of them begin. `preemptions`: how many may follow each other without any hold being
    completed and without any hold reaching further than it ever did. `replacements`: how many more sessions than a
    closed population has may end at one instant. `rejects`: whether a hold that can never fit is rejected, and a growth
    that can never fit stops the run; else both wait for ever, as they do in vLLM.
    """

    commands: int = 1_000_000
    first_commands: int = 1_000
    preemptions: int = 10_000
    replacements: int = 10_000
    rejects: bool = True


def beginners(program: p.Program, limits: Limits) -> int:
    """How many sessions begin at time 0. LimitError when that is more than can."""
    match program.arrivals:
        case p.Closed(population=size) | p.Batch(size=size):
            if p.whole(size) > limits.commands:
                most = limits.commands
                raise LimitError(f"{size.value:g} sessions at time 0 are too many: at most {most} can start at once")
            return p.whole(size)
        case _:
            return 0


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
