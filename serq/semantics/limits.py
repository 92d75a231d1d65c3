"""When a program that cannot go on is stopped."""

from dataclasses import dataclass

from serq.base.errors import LimitError
from serq.ir import program as p


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
