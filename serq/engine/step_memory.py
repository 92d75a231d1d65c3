"""The memory of the step stages of a run, and how it grows with the number of sessions."""

from array import array
from typing import Any

from serq.engine.iterations import DECODE_FIRST, EXCLUSIVE_PREFILL
from serq.engine.residents import PLAN_AHEAD
from serq.engine.settings import Settings
from serq.engine.steady import PLAIN, TOGETHER
from serq.engine.step_state import FAR, WIDEST
from serq.engine.step_text import counts_together, step_stages
from serq.ir import program as p

_PER_STAGE_WHOLE = (
    "count", "running", "planning", "size", "listed", "cursor", "aside_size", "done_size", "leaving_size",
    "loose_count", "steady_count", "steady_batch", "round", "due",
)  # fmt: skip
_PER_STAGE_DOUBLE = ("left", "most", "steady_held", "cap", "block")
_LISTS = ("residents", "finishes", "loose", "order", "batch", "aside", "done", "leaving")
_PER_SLOT_WHOLE = ("phase", "rank", "steady", "finish", "base", "crosses", "lately", "part", "at", "pool", "site")
_PER_SLOT_DOUBLE = ("tokens", "origin", "held")


def fill_steps(steps: Any, program: p.Program, settings: Settings) -> None:
    """Give the record of the step stages what does not depend on the number of sessions.

    Residents are counted together (see `serq.engine.steady`) unless the settings say otherwise.
    """
    places = step_stages(program)
    numbers = [places.index(place) if place in places else -1 for place in range(len(program.stages))]
    steps.number_of, steps.place = array("q", numbers or [0]), array("q", places or [0])
    steps.options = array("q", [_options(program, place, settings.together) for place in places] or [0])
    kinds = [program.stages[place].kind for place in places]
    memory = [kind.memory for kind in kinds if isinstance(kind, p.Step)]
    steps.memory = array("q", [-1 if pool is None else pool for pool in memory] or [-1])
    steps.most_barren = settings.preemptions
    steps.crossings = array("q", [0]) * (WIDEST * max(len(places), 1))
    for name in _PER_STAGE_WHOLE:
        setattr(steps, name, array("q", [0]) * max(len(places), 1))
    steps.next_finish = array("q", [FAR]) * max(len(places), 1)
    steps.width = array("q", [0]) * max(len(places), 1)
    for name in _PER_STAGE_DOUBLE:
        setattr(steps, name, array("d", [0.0]) * max(len(places), 1))
    _fill_memory(steps, program, places)


def _fill_memory(steps: Any, program: p.Program, places: tuple[int, ...]) -> None:
    """What is asked about the memory of each stage; `width` is 0 where its growth is not counted together."""
    for k, place in enumerate(places):
        kind = program.stages[place].kind
        assert isinstance(kind, p.Step)
        if kind.memory is None:
            continue
        pool = program.pools[kind.memory]
        block = 0.0 if pool.block is None else pool.block.value
        steps.cap[k], steps.block[k] = pool.cap.value, block
        steps.width[k] = 1 if block == 0.0 else int(block) if block == int(block) and block <= WIDEST else 0


def _options(program: p.Program, place: int, together: bool) -> int:
    kind = program.stages[place].kind
    assert isinstance(kind, p.Step)
    memory = None if kind.memory is None else program.pools[kind.memory]
    switches = {
        DECODE_FIRST: kind.decode_first,
        EXCLUSIVE_PREFILL: kind.exclusive_prefill,
        PLAN_AHEAD: kind.plan_ahead,
        TOGETHER: together and counts_together(program, place),
        PLAIN: memory is not None and not memory.evict and not memory.pin_waiting and memory.spill is None,
    }
    return sum(bit for bit, is_on in switches.items() if is_on)


def grow_steps(steps: Any, old: int, capacity: int, stages: int) -> None:
    """Room for more sessions; lists stay where they begin."""
    for name in _LISTS:
        longer = array("q", [0]) * max(capacity * stages, 1)
        for k in range(stages if old else 0):
            longer[k * capacity : k * capacity + old] = getattr(steps, name)[k * old : (k + 1) * old]
        setattr(steps, name, longer)
    steps.aside_tokens = array("d", [0.0]) * max(capacity * stages, 1)  # of use only while an iteration is put together
    slots = capacity if stages else 1
    for name, code in (*((n, "q") for n in _PER_SLOT_WHOLE), *((n, "d") for n in _PER_SLOT_DOUBLE)):
        fresh: Any = array(code, [-1 if name == "part" else 0]) * slots
        if old and stages:
            fresh[:old] = array(code, getattr(steps, name)[:old])
        setattr(steps, name, fresh)
