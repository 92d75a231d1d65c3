"""What to say when a chain has too many states: which part of the state takes the most values."""

from collections import Counter
from collections.abc import Sequence

from serq.base.errors import LimitError
from serq.ir import program as p
from serq.semantics.canonical import Codec
from serq.semantics.records import CLOCK, DEAD, WAITING, State


def too_many_states(
    program: p.Program, codec: Codec, states: Sequence[State], limit: int, found: int | None = None
) -> LimitError:
    """The error to raise: how many states were found (those given, or more), and what takes the most values in them."""
    variable, values = _most_varied(program, codec, states)
    return LimitError(
        f"the chain has more than {limit} states ({found or len(states)} were found); {variable} takes the most "
        f"values, {values} so far"
    )


def _most_varied(program: p.Program, codec: Codec, states: Sequence[State]) -> tuple[str, int]:
    """The variable with the most values, and their number."""
    seen: dict[str, set[object]] = {}
    for record in codec.records:
        if record.pc == CLOCK:
            continue
        names = codec.owner_names if record.pc == DEAD else codec.names[record.pc]
        for name, value in zip(names, record.values, strict=True):
            seen.setdefault(f"attribute {name}", set()).add(value)
        for pool, units, rank in record.entries:
            seen.setdefault(f"the length of a prefix in pool {program.pools[pool].name}", set()).add(units)
            seen.setdefault(f"the release order of pool {program.pools[pool].name}", set()).add(rank)
        for scope in record.scopes:
            for pool, units in zip(scope[1::2], scope[2::2], strict=True):
                seen.setdefault(f"a hold on pool {program.pools[pool].name}", set()).add(units)
        if record.pc == DEAD:
            continue
        match program.code[record.pc]:
            case p.Run() if record.place[2] == WAITING:
                name = program.stages[record.place[0]].name
                seen.setdefault(f"the queue of stage {name}", set()).add(record.place[3])
            case p.Hold():
                name = program.pools[record.place[0]].name
                seen.setdefault(f"the queue of pool {name}", set()).add(record.place[1])
    seen["the number of sessions"] = set(Counter(map(len, states)))
    return max(((name, len(values)) for name, values in seen.items()), key=lambda pair: pair[1])


def too_many_beginnings(ways: int) -> LimitError:
    """The error to raise where chance has more ways to place the sessions of time 0 than anybody goes through: n
    sessions that toss a coin have 2^n.
    """
    return LimitError(
        f"the sessions of time 0 begin in more than {ways} ways: let them begin with work, and choose afterwards"
    )
