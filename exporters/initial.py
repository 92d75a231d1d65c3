"""The state in which an export starts: every session of a closed or batch program at the first place it reaches."""

from collections.abc import Mapping

from serq.exporters.automaton import Automaton, Passage
from serq.exporters.layout import Layout
from serq.exporters.partial import number
from serq.exporters.text import ATOM, PRODUCT, SUM, NoTextError, Piece, Printer
from serq.ir import program as p


def initial_values(automaton: Automaton, layout: Layout, printer: Printer, population: Piece) -> Mapping[str, Piece]:
    """Initial values by variable; what is missing starts at 0.

    Where the first step is random, all sessions take the first way: long-run values of a chain with one closed class
    do not depend on it. NoTextError when the start depends on the stages, or when it matters (a batch).
    """
    arrivals = automaton.program.arrivals
    if not isinstance(arrivals, p.Closed | p.Batch):
        return {}
    if any(passage.guards for passage in automaton.start):
        raise NoTextError("a first step that does not depend on the stages")
    if isinstance(arrivals, p.Batch) and len(automaton.start) > 1:
        raise NoTextError("a first step that is not random, since a batch drains from where it starts")
    return _all_at(automaton.start[0], layout, printer, population)


def _all_at(first: Passage, layout: Layout, printer: Printer, population: Piece) -> Mapping[str, Piece]:
    place = first.target
    if place is None:
        return {}
    phases = layout.phases[place]
    begun = next(i for i, phase in enumerate(phases) if phase.start != number(0))
    counter = layout.slots_of(place)[begun].variable
    station = layout.station_of[place.stage]
    if station.waiting is None:
        return {counter: population}
    assert isinstance(station.kind, p.Fifo)
    servers = printer.number(station.kind.servers.expr)
    waiting = Piece(f"max({population.at(SUM)} - {servers.at(PRODUCT)}, 0)")
    out = {counter: Piece(f"min({population}, {servers})"), station.waiting: waiting}
    code = station.places.index(place)
    if station.word and code:
        base = station.base
        ones = f"(pow({base}, {waiting}) - 1)"
        text = ones if base == 2 else f"{ones} / {base - 1}"
        out[station.word] = Piece(text if code == 1 else f"{code} * {Piece(ones).at(ATOM)} / {base - 1}", PRODUCT)
    return out
