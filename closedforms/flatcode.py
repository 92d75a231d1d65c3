"""The session as one list of instructions: the `init` block in front, the `turn` block after every `turn`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from serq.base.source import Span
from serq.ir import program as p
from serq.ir.flow import liveness, reads, successors, writes


@dataclass(frozen=True)
class FlatCode:
    """Instructions, the attributes that are live before each, and whether an ended session is replaced at once."""

    instructions: tuple[p.Instruction, ...]
    live: tuple[frozenset[str], ...]
    restarts: bool

    def __getitem__(self, pc: int) -> p.Instruction:
        return self.instructions[pc]

    def span(self, pc: int) -> Span:
        """Where the instruction stands in the text."""
        return self.instructions[pc].span


def flatten(program: p.Program) -> FlatCode:
    """The session's code with the blocks of the workload in their places."""
    places: list[int] = []
    flat: list[p.Instruction] = list(program.init)
    for instruction in program.code:
        places.append(len(flat))
        flat.append(instruction)
        if isinstance(instruction, p.Turn):
            flat += program.turn
    instructions = tuple(_moved(instruction, places) for instruction in flat)
    whole = replace(program, init=(), turn=(), code=instructions)
    restarts = isinstance(program.arrivals, p.Closed)

    def edges(pc: int) -> Iterable[int]:
        return successors(whole, pc)

    live, _ = liveness(whole, lambda pc: reads(whole, pc), lambda pc: writes(whole, pc), edges)
    return FlatCode(instructions, live, restarts)


def _moved(instruction: p.Instruction, places: list[int]) -> p.Instruction:
    match instruction:
        case p.Jump(target=target):
            return replace(instruction, target=places[target])
        case p.Branch(otherwise=target):
            return replace(instruction, otherwise=places[target])
        case _:
            return instruction
