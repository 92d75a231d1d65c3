"""State rewards of a chain: all but the gauges add up over the records of a state."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from serq.ir import program as p
from serq.semantics.records import WAITING, Record, State

Vector = tuple[Fraction, ...]


def state_rewards(
    program: p.Program, records: Sequence[Record], states: Sequence[State], regions: Mapping[str, frozenset[int]]
) -> dict[str, Vector]:
    """The rewards of stages, pools and sessions, and those that count sessions in regions, per state."""
    shares = shares_of(program, records, regions)
    numbers: dict[Any, Fraction] = {}
    out = {}
    for name, share in shares.items():
        values = [sum([share[code] for code in state]) for state in states]
        out[name] = tuple(numbers[v] if v in numbers else numbers.setdefault(v, Fraction(v)) for v in values)
    one, none = Fraction(1), Fraction(0)
    for stage in program.stages:
        present = out[f"stage.{stage.name}.number"]
        out[f"stage.{stage.name}.nonempty"] = tuple(one if x else none for x in present)
    return out


def shares_of(
    program: p.Program, records: Sequence[Record], regions: Mapping[str, frozenset[int]]
) -> dict[str, list[Any]]:
    """Per reward what every record contributes."""
    names = [
        *(f"stage.{stage.name}.{x}" for stage in program.stages for x in ("number", "waiting", "busy")),
        *(f"pool.{pool.name}.{x}" for pool in program.pools for x in ("used", "cached", "queue", "holders")),
        "sessions.number",
        *regions,
    ]
    shares: dict[str, list[Any]] = {name: [0] * len(records) for name in names}
    for code, record in enumerate(records):
        for pool, units, _ in record.entries:
            shares[f"pool.{program.pools[pool].name}.cached"][code] += units
        if record.pc < 0:
            continue
        shares["sessions.number"][code] = 1
        for scope in record.scopes:
            for pool, units in zip(scope[1::2], scope[2::2], strict=True):
                shares[f"pool.{program.pools[pool].name}.used"][code] += units
                shares[f"pool.{program.pools[pool].name}.holders"][code] += 1
        match program.code[record.pc]:
            case p.Run():
                stage = f"stage.{program.stages[record.place[0]].name}."
                shares[stage + "number"][code] = 1
                shares[stage + ("waiting" if record.place[2] == WAITING else "busy")][code] = 1
            case p.Hold():
                shares[f"pool.{program.pools[record.place[0]].name}.queue"][code] = 1
        for name, region in regions.items():
            if record.pc in region:
                shares[name][code] = 1
    return shares
