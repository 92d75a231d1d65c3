"""Places to which all sessions come, so that long-run values do not depend on where they begin.

The sessions of a program with pools begin together at a place without order, holding nothing.

Who is admitted at the first instant depends on how many sessions and how much memory there are, which are to stay open.
Long-run values do not depend on it: from wherever the program begins, every session can come to such a place while the
others stay there, so that the state with all of them there belongs to every chain that the program can be. The same
argument serves where sessions begin at random and an export begins all of them in one way.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from serq.exporters.automaton import Automaton, evicted
from serq.exporters.layout import Layout
from serq.exporters.partial import complement
from serq.exporters.passages import Place, Rest
from serq.exporters.stores import Store
from serq.exporters.text import PRODUCT, SUM, NoTextError, Piece
from serq.ir import expr as e
from serq.ir import program as p

_WANTED = "a delay or shared stage to which every session comes, whatever the others do"
_COMMON = "a place to which every session comes in the end, since where they begin is random"
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
    rests = _with_beginnings(automaton, set(reached))
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
    return _least(wanted, lambda positive: gathers(positive) and fills(positive))


def check_beginnings(automaton: Automaton) -> tuple[e.Expr, ...]:
    """Probabilities that must be positive for all beginnings of a closed population without pools to end alike.

    NoTextError where no place is found to which every session comes while the others stay there: a delay or shared
    stage, or a first-come-first-served one at which sessions do nothing else.
    """
    rests = set(automaton.after)
    every = set(_factors(automaton))
    found = []
    for place in filter(lambda place: _lets_others_pass(automaton, place), automaton.places):

        def gathers(positive: set[e.Expr], place: Place = place) -> bool:
            return rests <= _bound_for(automaton, [place], positive)

        if gathers(every):
            found.append(_least(every, gathers))
    if not found:
        raise NoTextError(_COMMON)
    return min(found, key=len)


def _lets_others_pass(automaton: Automaton, place: Place) -> bool:
    """Whether a session that stays there is in nobody's way to the same place."""
    first_come = isinstance(automaton.program.stages[place.stage].kind, p.Fifo)
    return not first_come or all(other == place or other.stage != place.stage for other in automaton.places)


def _least(wanted: set[e.Expr], suffice: Callable[[set[e.Expr]], bool]) -> tuple[e.Expr, ...]:
    """Those of the probabilities without which the rest does not suffice."""
    for factor in sorted(wanted, key=repr):
        fewer = wanted - {factor}
        if suffice(fewer):
            wanted = fewer
    return tuple(sorted(wanted, key=repr))


def _with_beginnings(automaton: Automaton, rests: set[Rest]) -> set[Rest]:
    """With the places that sessions come through from where the program begins."""
    out = set(rests)
    todo = [way.target for way in automaton.start if way.target is not None]
    while todo:
        rest = todo.pop()
        if rest not in out:
            out.add(rest)
            todo += [way.target for way in automaton.after[rest] if way.target is not None]
            if isinstance(rest, Place):
                todo += [evicted(rest, pool) for pool, _ in rest.memory.entries]
    return out


def _bound_for(automaton: Automaton, places: Iterable[Rest], positive: set[e.Expr]) -> set[Rest]:
    """From where a session comes to one of the places, whatever it meets, when these probabilities are positive."""
    there = set(places)
    while more := {rest for rest in automaton.after if rest not in there and _comes(automaton, rest, there, positive)}:
        there |= more
    return there


def _comes(automaton: Automaton, rest: Rest, there: set[Rest], positive: set[e.Expr]) -> bool:
    """Whether a session that is there can come to one of these, whatever it meets on the way: by ways that are always
    open, or by each of its ways.
    """
    ways = automaton.after[rest]
    open_ways = [(frozenset(_parts(way.probability)), way.target in there) for way in ways if not way.guards]
    return _surely(open_ways, frozenset(positive)) or (bool(ways) and all(way.target in there for way in ways))


def _surely(ways: list[tuple[frozenset[e.Expr], bool]], positive: frozenset[e.Expr]) -> bool:
    """Whether a way that leads there is possible. Of a probability and its complement one is positive in any case."""
    if any(leads and parts <= positive for parts, leads in ways):
        return True
    unknown = sorted({part for parts, _ in ways for part in parts} - positive, key=repr)
    for part in unknown:
        other = complement(part)
        if other in unknown:
            without = [[way for way in ways if never not in way[0]] for never in (part, other)]
            return _surely(without[0], positive | {other}) and _surely(without[1], positive | {part})
    return False


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
