"""Which stage has which clock, and which part of the heap."""

from typing import TypeGuard

from serq.ir import expr as e
from serq.ir import program as p


def sources_of(program: p.Program) -> tuple[int, ...]:
    """Whose clocks are single: the arrivals', those of shared stages and of stages with one server."""
    arrivals = (-1,) if isinstance(program.arrivals, p.Poisson | p.Renewal | p.FromTrace) else ()
    return arrivals + tuple(i for i, stage in enumerate(program.stages) if is_single(stage.kind))


def is_single(kind: p.StageKind) -> bool:
    """Whether at most one clock of such a stage can be set."""
    return isinstance(kind, p.ProcessorSharing | p.Step) or (isinstance(kind, p.Fifo) and p.whole(kind.servers) == 1)


def is_many(kind: p.StageKind) -> TypeGuard[p.Fifo]:
    """Whether it is a stage of several servers."""
    return isinstance(kind, p.Fifo) and p.whole(kind.servers) > 1


def source_of(program: p.Program, ref: e.Ref, place: str) -> str:
    """The number of the clock of a stage that has one, as text; `place` is that of the stage. Those of an array follow
    each other.
    """
    source = sources_of(program).index(ref.base)
    return str(source) if ref.index is None else f"{place} + {source - ref.base}"


def region_of(program: p.Program, ref: e.Ref, place: str) -> str:
    """The region of the heap that a shared stage has, in the same way."""
    region = sum(isinstance(stage.kind, p.ProcessorSharing) for stage in program.stages[: ref.base]) + 1
    return str(region) if ref.index is None else f"{place} + {region - ref.base}"


def join_shared(base: int, place: str, region: str, work: str) -> tuple[str, ...]:
    """The lines in which a job joins the shared stage at `place`, which is that at `base` or one of its array."""
    return (
        f"lead = join_shared(s, {place}, {region}, slot, {work})",
        f"status = speed_{base}(s, {place}, s.number[{place}] + 1, lead)",
        f"note_joined(s, {place}, slot)",
        "return status",
    )
