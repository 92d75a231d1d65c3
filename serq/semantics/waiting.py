"""Who waits for ever when a replay is over, in words."""

from serq.ir import program as p
from serq.semantics.errors import NeverAdmitted, WaitsForEver

MOST_NAMED = 20
"""So many sessions that wait for ever are named."""


def named(session: str, turn: int) -> str:
    """A session of a trace, with the turn that it is at."""
    return f"{session} (turn {turn})" if turn else session


def never_admitted(program: p.Program, session: str, pc: int, pool: int, needed: str, behind: int) -> NeverAdmitted:
    """The hold at an instruction asks for more of a pool than there is, and so many wait behind it."""
    cap = f"{program.pools[pool].cap.value:g}"
    span, name = program.code[pc].span, program.pools[pool].name
    return NeverAdmitted(span=span, session=session, pool=name, needed=needed, cap=cap, behind=behind)


def waits_for_ever(program: p.Program, session: str, pc: int, place: int, at_stage: bool) -> WaitsForEver:
    """A session that is still at a stage, or waits for a pool, when nothing happens any more."""
    where = f"at stage {program.stages[place].name}" if at_stage else f"for pool {program.pools[place].name}"
    return WaitsForEver(span=program.code[pc].span, session=session, where=where)
