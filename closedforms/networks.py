"""Networks of queues with a product-form steady state: closed, closed with classes, open, open with a limit.

A station is first come first served with exponential work (one mean for all), processor sharing with work of any law,
or a delay with work of any law; routing is Markovian.

Sources: J. R. Jackson, Oper. Res. 5 (1957) 518-521; W. J. Gordon and G. F. Newell, Oper. Res. 15 (1967) 254-265;
Baskett, Chandy, Muntz and Palacios, J. ACM 22 (1975) 248-260; Bolch et al. 2006, chapters 7 and 8.
"""

import math
from collections.abc import Sequence
from math import prod

import sympy

from serq.closedforms import symbols as s
from serq.closedforms.arguments import COUNT, NON_NEGATIVE, SERVERS, Arguments, Domain, Parameter, Real
from serq.closedforms.finite_source import SOURCES, STABLE
from serq.closedforms.formula import Formula, Precondition, Quantity, Values
from serq.closedforms.productform import Network, Station, solve
from serq.closedforms.quantities import QUEUE
from serq.closedforms.single import BELOW_SATURATION, LAM, empty_mmc, erlang_b

LARGEST_LATTICE = 1000


SERVERS_BY_STATION = Parameter("c", s.c, "servers, by station; inf for a delay", domain=SERVERS, shape="list")
VISITS = Parameter("V", sympy.Symbol("V_i"), "mean visits per cycle, by station", shape="list")
WORKS = Parameter("S", sympy.Symbol("S_i"), "mean work of a visit, by station", "time", shape="list")
CLASS_VISITS = Parameter(
    "V", sympy.Symbol("V_{ri}"), "mean visits per cycle, by class and station", domain=NON_NEGATIVE, shape="table"
)
CLASS_WORKS = Parameter(
    "S",
    sympy.Symbol("S_{ri}"),
    "mean work of a visit, by class and station",
    "time",
    domain=NON_NEGATIVE,
    shape="table",
)
POPULATIONS = Parameter("N", s.N, "population, by class", domain=COUNT, shape="list")
RATES = Parameter(
    "rates",
    sympy.Symbol("phi_i"),
    "total rate of work with 1, 2, ... jobs, by station; the last entry holds on; inf for a delay",
    domain=Domain("a positive rate, or inf for a delay", lambda v: v > 0),
    shape="table",
)


def _by_station(name: str, where: str = "by station") -> Quantity:
    meaning, unit = QUEUE[name]
    return Quantity(name, f"{meaning}, {where}", unit)


STATIONS = tuple(_by_station(name) for name in ("X", "L", "R", "U", "p0"))
CLASSES = (
    *(_by_station(name, "by class and station") for name in ("X", "L", "R")),
    *(_by_station(name) for name in ("U", "p0")),
)
CYCLES = Quantity("cycles", "cycles per unit of time", "1/time")

_G = sympy.Function("G")
_factor = sympy.Function("f_i")
CONVOLUTION = (
    sympy.Eq(_factor(s.n), (sympy.Symbol("V_i") * sympy.Symbol("S_i")) ** s.n / sympy.Product(
        sympy.Min(s.j, s.c), (s.j, 1, s.n))),
    sympy.Eq(sympy.Symbol("X"), _G(s.N - 1) / _G(s.N)),
)  # fmt: skip


def _stations(demands: Sequence[Sequence[Real]], servers: Sequence[int | None]) -> list[Station]:
    """Stations from their demands by class and their numbers of servers."""
    rates = [None if c is None else tuple(range(1, c + 1)) for c in servers]
    return [Station(tuple(d), r) for d, r in zip(demands, rates, strict=True)]


def _used(network: Network, demands: Sequence[Sequence[Real]], servers: Sequence[int | None]) -> list[Real]:
    """Utilisations: busy servers / servers, and the fraction of time non-empty at a delay."""
    loads = [sum(x * d for x, d in zip(network.throughputs, row, strict=True)) for row in demands]
    return [
        1 - distribution[0] if c is None else load / c
        for load, c, distribution in zip(loads, servers, network.distributions, strict=True)
    ]


def _closed(a: Arguments) -> Values:
    visits, works, servers, population = a.series("V"), a.series("S"), a.servers("c"), a.whole("N")
    demands = [(v * w,) for v, w in zip(visits, works, strict=True)]
    network = solve(_stations(demands, servers), (population,))
    cycles = network.throughputs[0]
    through = [v * cycles for v in visits]
    numbers = [row[0] for row in network.numbers]
    return {
        "cycles": cycles,
        "cycle": population / cycles,
        "X": through,
        "L": numbers,
        "R": [n / x for n, x in zip(numbers, through, strict=True)],
        "U": _used(network, demands, servers),
        "p0": [d[0] for d in network.distributions],
    }


def _lengths_agree(*names: str) -> Precondition:
    def holds(a: Arguments) -> bool:
        return len({len(a.row(name)) for name in names}) == 1

    return Precondition(f"the same number of stations in {', '.join(names)}", holds)


def _small(a: Arguments) -> bool:
    return prod(n + 1 for n in a.wholes("N")) <= LARGEST_LATTICE if isinstance(a["N"], tuple) else (
        a.whole("N") < LARGEST_LATTICE)  # fmt: skip


SMALL = Precondition(
    f"at most {LARGEST_LATTICE} population vectors (the convolution visits every pair of them)", _small
)

CLOSED = Formula(
    name="closed-network",
    title="Closed network of queues and delays, one class (Gordon-Newell)",
    source="Gordon and Newell 1967; Buzen 1973; Bolch et al. 2006, section 8.1",
    parameters=(SOURCES, VISITS, WORKS, SERVERS_BY_STATION),
    preconditions=(_lengths_agree("V", "S", "c"), SMALL),
    measures=(CYCLES, Quantity("cycle", "mean time of a cycle", "time"), *STATIONS),
    recursion=_closed,
    laws=CONVOLUTION,
    stability=STABLE,
    exact_up_to=200,
)


def _transposed(table: Sequence[Sequence[Real]]) -> list[tuple[Real, ...]]:
    return list(zip(*table, strict=True))


def _class_values(a: Arguments, network: Network) -> dict[str, Real]:
    visits = a.table("V")
    through = [[v * x for v in row] for row, x in zip(visits, network.throughputs, strict=True)]
    numbers = _transposed(network.numbers)
    sojourns = [
        [n / x if x else x for n, x in zip(ns, xs, strict=True)] for ns, xs in zip(numbers, through, strict=True)
    ]
    return {
        "cycles": network.throughputs,
        "X": through,
        "L": numbers,
        "R": sojourns,
        "p0": [d[0] for d in network.distributions],
    }


def _class_demands(a: Arguments) -> list[tuple[Real, ...]]:
    rows = zip(a.table("V"), a.table("S"), strict=True)
    return _transposed([[v * w for v, w in zip(vs, ws, strict=True)] for vs, ws in rows])


def _classes(a: Arguments) -> Values:
    demands, servers = _class_demands(a), a.servers("c")
    network = solve(_stations(demands, servers), a.wholes("N"))
    return {**_class_values(a, network), "U": _used(network, demands, servers)}


def _rates(a: Arguments) -> Values:
    rates = [None if row[0] == math.inf else row for row in a.table("rates")]
    stations = [Station(d, r) for d, r in zip(_class_demands(a), rates, strict=True)]
    values = _class_values(a, solve(stations, a.wholes("N")))
    return {**values, "U": [1 - p for p in values["p0"]]}


def _tables_agree(last: str) -> Precondition:
    def holds(a: Arguments) -> bool:
        classes, stations = len(a.row("N")), len(a.row(last))
        tables = (a.table("V"), a.table("S"))
        return all(len(t) == classes and all(len(row) == stations for row in t) for t in tables)

    return Precondition(f"V and S with a row by class of N and a column by station of {last}", holds)


def _every_class_works(a: Arguments) -> bool:
    return all(
        any(v * w > 0 for v, w in zip(vs, ws, strict=True)) for vs, ws in zip(a.table("V"), a.table("S"), strict=True)
    )


WORKING = Precondition("some work of every class somewhere", _every_class_works)
CLASS_CYCLES = Quantity("cycles", "cycles per unit of time, by class", "1/time")

CLOSED_CLASSES = Formula(
    name="closed-classes",
    title="Closed network of queues and delays with several classes (BCMP)",
    source="Baskett et al. 1975; Bolch et al. 2006, section 8.3",
    parameters=(POPULATIONS, CLASS_VISITS, CLASS_WORKS, SERVERS_BY_STATION),
    preconditions=(_tables_agree("c"), SMALL, WORKING),
    measures=(CLASS_CYCLES, *CLASSES),
    recursion=_classes,
    stability=STABLE + " A first come first served station needs one exponential law for all classes.",
    exact_up_to=200,
)

CLOSED_RATES = Formula(
    name="closed-rates",
    title="Closed network with several classes whose stations work at a rate that depends on how many jobs are there",
    source="Baskett et al. 1975; Bolch et al. 2006, sections 7.3.6 and 8.2",
    parameters=(POPULATIONS, CLASS_VISITS, CLASS_WORKS, RATES),
    preconditions=(_tables_agree("rates"), SMALL, WORKING),
    measures=(CLASS_CYCLES, *CLASSES),
    recursion=_rates,
    stability=STABLE + " The utilisation is the fraction of time non-empty.",
    exact_up_to=200,
)


def _open_station(rate: Real, work: Real, servers: int | None) -> dict[str, Real]:
    load = rate * work
    if servers is None:
        return {"X": rate, "L": load, "R": work, "U": 1 - _exp(-load), "p0": _exp(-load)}
    use = load / servers
    lost = erlang_b(load, servers)
    number = load + lost / (1 - use * (1 - lost)) * use / (1 - use)
    return {"X": rate, "L": number, "R": number / rate, "U": use, "p0": empty_mmc(load, servers)}


def _exp(x: Real) -> float:
    return math.exp(float(x))


def _open(a: Arguments) -> Values:
    lam, servers = a.number("lam"), a.servers("c")
    stations = [_open_station(lam * v, w, c) for v, w, c in zip(a.series("V"), a.series("S"), servers, strict=True)]
    number = sum(station["L"] for station in stations)
    by_station = {q.name: [station[q.name] for station in stations] for q in STATIONS}
    return {**by_station, "number": number, "response": number / lam}


def _stable(a: Arguments) -> bool:
    lam = a.number("lam")
    return all(
        c is None or lam * v * w < c for v, w, c in zip(a.series("V"), a.series("S"), a.servers("c"), strict=False)
    )


OPEN = Formula(
    name="open-network",
    title="Open network of queues and delays with Poisson arrivals, feedback allowed (Jackson)",
    source="Jackson 1957; Bolch et al. 2006, section 7.3",
    parameters=(LAM, VISITS, WORKS, SERVERS_BY_STATION),
    preconditions=(
        _lengths_agree("V", "S", "c"),
        Precondition("a utilisation lam V S / c below 1 at every queue", _stable),
    ),
    measures=(
        *STATIONS,
        Quantity("number", "mean number in the network"),
        Quantity("response", "mean time in the network", "time"),
    ),
    recursion=_open,
    stability=BELOW_SATURATION,
)


def _limited(a: Arguments) -> Values:
    """The outside is one more station, of rate lam, that stands still when all K places are taken."""
    lam, room = a.number("lam"), a.whole("K")
    visits, servers = a.series("V"), a.servers("c")
    demands = [(v * w,) for v, w in zip(visits, a.series("S"), strict=True)]
    network = solve([Station((1 / lam,)), *_stations(demands, servers)], (room,))
    entered = network.throughputs[0]
    numbers = [row[0] for row in network.numbers[1:]]
    inside = Network(network.throughputs, network.numbers[1:], network.distributions[1:])
    number = sum(numbers)
    return {
        "X": [v * entered for v in visits],
        "L": numbers,
        "R": [n / (v * entered) for n, v in zip(numbers, visits, strict=True)],
        "U": _used(inside, demands, servers),
        "p0": [d[0] for d in inside.distributions],
        "number": number,
        "response": number / entered,
        "entered": entered,
        "pK": 1 - entered / lam,
        "losses": lam - entered,
    }


LIMITED = Formula(
    name="limited-network",
    title="Open network with Poisson arrivals that are lost while K jobs are inside",
    source="Jackson, Management Science 10 (1963) 131-142; Kelly 1979, section 3.5",
    parameters=(
        LAM,
        Parameter("K", s.K, "largest number of jobs inside", domain=COUNT),
        VISITS,
        WORKS,
        SERVERS_BY_STATION,
    ),
    preconditions=(
        _lengths_agree("V", "S", "c"),
        Precondition(f"K below {LARGEST_LATTICE}", lambda a: a.whole("K") < LARGEST_LATTICE),
    ),
    measures=(
        *STATIONS,
        Quantity("number", "mean number in the network"),
        Quantity("response", "mean time in the network of what is not lost", "time"),
        Quantity("entered", "arrivals per unit of time that are not lost", "1/time"),
        Quantity("pK", "probability that an arrival is lost"),
        Quantity("losses", "lost arrivals per unit of time", "1/time"),
    ),
    recursion=_limited,
    stability="At most K jobs are inside: there is a steady state at every load.",
    exact_up_to=200,
)

FAMILIES: Sequence[Formula] = (CLOSED, CLOSED_CLASSES, CLOSED_RATES, OPEN, LIMITED)
