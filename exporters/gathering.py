"""Where the sessions of a program with pools begin: together at a place without order, holding nothing.

Who is admitted at the first instant depends on how many sessions and how much memory there are, which are to stay open.
Long-run values do not depend on it: from wherever the program begins, every session can come to such a place while the
others stay there, so that the state with all of them there belongs to every chain that the program can be.
"""

from collections.abc import Iterable, Iterator, Mapping

from serq.exporters.automaton import Automaton
from serq.exporters.layout import Layout
from serq.exporters.passages import Place, Rest
from serq.exporters.stores import Store
from serq.exporters.text import PRODUCT, SUM, NoTextError, Piece
from serq.ir import expr as e
from serq.ir import program as p

_WANTED = "a delay or shared stage to which every session comes, whatever the others do"
_FILLED = "a cache that every session comes to fill, whatever the others do"


def gathering_place(automaton: Automaton) -> tuple[Place, ...]:
    """The place where all begin, with and without what they may have cached; those without come last."""
    program = automaton.program
    if not isinstance(program.arrivals, p.Closed):
        raise NoTextError("a closed population, or sessions that arrive one by one")
    for kind in (p.Delay, p.ProcessorSharing):
        for place in automaton.places:
            if isinstance(program.stages[place.stage].kind, kind) and not place.memory.scopes:
                alike = [other for other in automaton.places if _same(other, place)]
                return tuple(sorted(alike, key=lambda other: -len(other.memory.entries)))
    raise NoTextError(_WANTED)


def _same(a: Place, b: Place) -> bool:
    return (a.pc, a.stage, a.work, a.values) == (b.pc, b.stage, b.work, b.values) and not a.memory.scopes


def check_gathering(automaton: Automaton, places: tuple[Place, ...], reached: Iterable[Rest]) -> tuple[e.Expr, ...]:
    """Probabilities that must be positive; NoTextError where some session may never come to the place, or fill the
    cache with which it is begun there, or only if others let it.
    """
    rests = set(reached)
    caching = [place for place in places[:-1] if place in rests]

    def gathers(positive: set[e.Expr]) -> bool:
        return rests <= _bound_for(automaton, places, positive)

    def fills(positive: set[e.Expr]) -> bool:
        return all(places[-1] in _bound_for(automaton, [place], positive) for place in caching)

    wanted = set(_factors(automaton))
    if not gathers(wanted):
        raise NoTextError(_WANTED)
    if not fills(wanted):
        raise NoTextError(_FILLED)
    for factor in sorted(wanted, key=repr):
        fewer = wanted - {factor}
        if gathers(fewer) and fills(fewer):
            wanted = fewer
    return tuple(sorted(wanted, key=repr))


def _bound_for(automaton: Automaton, places: Iterable[Rest], positive: set[e.Expr]) -> set[Rest]:
    """From where a session comes to one of the places, whatever it meets, when these probabilities are positive."""
    there = set(places)
    while more := {rest for rest in automaton.after if rest not in there and _comes(automaton, rest, there, positive)}:
        there |= more
    return there


def _comes(automaton: Automaton, rest: Rest, there: set[Rest], positive: set[e.Expr]) -> bool:
    """Whether a session that is there can come to one of these, whatever it meets on the way: by a way that is always
    open, or by each of its ways.
    """
    ways = automaton.after[rest]
    certain = {way.target for way in ways if not way.guards and positive.issuperset(_parts(way.probability))}
    return bool(certain & there) or (bool(ways) and all(way.target in there for way in ways))


def _factors(automaton: Automaton) -> Iterator[e.Expr]:
    for ways in automaton.after.values():
        for way in ways:
            yield from _parts(way.probability)


def _parts(probability: e.Expr) -> tuple[e.Expr, ...]:
    """What must be positive for a probability to be; a total that weights are divided by is positive anyway."""
    match probability:
        case e.Binary(op="*", left=a, right=b):
            return (*_parts(a), *_parts(b))
        case e.Binary(op="/", left=a):
            return _parts(a)
        case e.Num():
            return ()
        case _:
            return (probability,)


def gathered(
    places: tuple[Place, ...], layout: Layout, stores: Mapping[int, Store], population: Piece
) -> dict[str, Piece]:
    """The counters with all sessions there. A cache is as full as when they have come there one after the other."""
    plain = layout.slots_of(places[-1])[0].variable
    store = next((s for s in stores.values() if s.owner and s.owner.place in places and s.cap is not None), None)
    if store is None or store.owner is None or store.cap is None or len(places) > 2:
        return {plain: population}
    step, entry, cap = store.step, store.entry, store.cap
    if step == entry:
        most = cap if step == 1 else Piece(f"floor({cap.at(PRODUCT)} / {step})")
    else:
        room = f"{cap.at(SUM)} - {step}"
        most = Piece(f"{room} + 1", SUM) if entry == 1 else Piece(f"floor(({room}) / {entry}) + 1", SUM)
    owners = Piece(f"min({population}, {most})")
    return {store.owner.variable: owners, plain: Piece(f"{population.at(SUM)} - {owners}", SUM)}
