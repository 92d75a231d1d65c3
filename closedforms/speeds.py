"""How fast a station works, as the formulas know it, and what keeps a station out of a product form."""

from collections.abc import Mapping
from dataclasses import dataclass

from serq.closedforms.amounts import ONE, Named, Work, number
from serq.closedforms.system import Station, named
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.expr import Number


@dataclass(frozen=True)
class Speed:
    """`servers` servers of rate `unit`; None: a delay. `table`: total rates with 1, 2, ... jobs, when it is neither."""

    servers: Named | None
    unit: Named = ONE
    table: tuple[Number, ...] | None = None

    @property
    def delay(self) -> bool:
        """Whether every job is alone."""
        return self.servers is None and self.table is None


DELAY = Speed(None)


def work_problem(station: Station) -> str:
    """Why a first come first served station has no product form; empty when it has one (or is none)."""
    if not isinstance(station.kind, p.Fifo):
        return ""
    works = [stay.work for stay in station.stays]
    general = next((w for w in works if not w.exponential), None)
    if general is not None:
        return f"the work at {station.name} must be exponential (it is {general.law})"
    other = next((w for w in works if w.mean != works[0].mean), None)
    if other is not None:
        return (
            f"all work at {station.name} must have one mean, first come first served"
            f" (here {_text(works[0])} and {_text(other)})"
        )
    return ""


def _text(work: Work) -> str:
    return str(work.mean.value)


def speed(station: Station, constants: Mapping[str, Named], most: int | None) -> Speed | str:
    """The station's speed when at most `most` jobs can be there, or why it is none that a formula knows."""
    kind = station.kind
    match kind:
        case p.Fifo(servers=servers):
            if most is not None and servers.exact >= most and work_problem(station):
                return DELAY
            return Speed(named(servers.expr, constants))
        case p.ProcessorSharing(rate=rate):
            return _shared(rate, constants, most)
        case _:
            return DELAY


def _shared(rate: e.Expr, constants: Mapping[str, Named], most: int | None) -> Speed | str:
    if not any(isinstance(node, e.Context) for node in e.walk(rate)):
        unit = named(rate, constants)
        return Speed(ONE, unit) if unit.value > 0 else "the rate of a ps stage must be positive"
    servers = _min_of_n(rate, constants)
    if servers is not None:
        return Speed(servers)
    if most is None:
        return "without a limit on the number present, a ps stage needs a constant rate or min(n, c)"
    return _tabulated([named(rate, constants, n=number(n)).value for n in range(1, most + 1)])


def _min_of_n(rate: e.Expr, constants: Mapping[str, Named]) -> Named | None:
    """The c of `min(n, c)`, when the rate is written so and c is a number of servers."""
    match rate:
        case e.Call(function="min", args=(e.Context(name="n"), other) | (other, e.Context(name="n"))):
            if any(isinstance(node, e.Context) for node in e.walk(other)):
                return None
            servers = named(other, constants)
            return servers if 1 <= servers.value < float("inf") and servers.value == int(servers.value) else None
        case _:
            return None


def _tabulated(rates: list[Number]) -> Speed | str:
    if any(r <= 0 for r in rates):
        return "the rate of a ps stage must be positive"
    if all(r == n for n, r in enumerate(rates, 1)):
        return DELAY
    if all(r == rates[0] for r in rates):
        return Speed(ONE, number(rates[0]))
    if all(r == min(n, rates[-1]) for n, r in enumerate(rates, 1)):
        return Speed(number(rates[-1]))
    return Speed(None, table=tuple(rates))
