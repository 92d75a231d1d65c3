"""The transition function: what happens at an instant, from one clock to the next.

A driver tells the machine which clock fired (`arrive`, `complete`, `end_iteration`), then calls `settle`; afterwards
the configuration rests until the next clock. `semantics.md` of the documentation says the same in words.
"""

from dataclasses import dataclass

from serq.ir import program as p
from serq.semantics.configuration import Configuration, Job, Session
from serq.semantics.world import Recorder, World


@dataclass(frozen=True, slots=True)
class Limits:
    """When a program that cannot go on is stopped: commands at one instant, preemptions without any progress."""

    commands: int = 1_000_000
    preemptions: int = 10_000


class Machine:
    """The meaning of one program in one world. Compiles the program once; `configuration` may be replaced at rest."""

    def __init__(
        self, program: p.Program, world: World, recorder: Recorder | None = None, limits: Limits | None = None
    ) -> None:
        self.program = program
        self.world = world
        self.recorder = recorder or Recorder()
        self.limits = limits or Limits()
        self.configuration: Configuration = self.fresh()

    def fresh(self) -> Configuration:
        """An empty configuration of this program."""
        raise NotImplementedError

    def begin(self) -> None:
        """Time 0: the sessions of a closed population or of a batch arrive. Then call `settle`."""
        raise NotImplementedError

    def arrive(self) -> Session | None:
        """A session arrives and is ready; None when it found the limit of sessions present and is lost."""
        raise NotImplementedError

    def complete(self, job: Job) -> None:
        """A job in service at a fifo, ps or delay stage is done: its session is ready behind its `run`."""
        raise NotImplementedError

    def end_iteration(self, stage: int) -> None:
        """The iteration of a step stage is over: its tokens count, and whose work is done becomes ready."""
        raise NotImplementedError

    def new_instant(self) -> None:
        """Time has passed since the last event: the count of commands at one instant starts anew."""
        raise NotImplementedError

    def settle(self) -> None:
        """Run whoever is ready, retry growths and admissions, start iterations, until nothing can happen.

        Raises `RunError` for what a program does wrong and for a program that cannot go on.
        """
        raise NotImplementedError
