"""The session as an automaton: local states where time passes, and passages between them.

A `Place` is a program point and the values of the attributes that are still needed there, a `Claim` the same in the
queue of a pool; a `Passage` is what may happen between two of them: with which probability, under which condition on
the deployment, and which observes and completions it passes. The automaton is derived from the linked program alone,
whatever its names and order.
"""

from dataclasses import dataclass, field, replace

from serq.base.diagnostics import Diagnostic
from serq.base.source import Span
from serq.exporters.errors import NoCounterForm, NotSymbolicError, TooManyPlaces
from serq.exporters.memory import Claim
from serq.exporters.partial import Partial
from serq.exporters.passages import Passage, Place, Rest, Session, Walk
from serq.ir import program as p

PLACE_LIMIT = 64
_STEPS = 10_000
_ALL_STEPS = 20_000
"""Steps of one walk, and of all that leave one place."""


@dataclass
class Automaton:
    """Places in the order in which they were found, and the passages out of the start and out of each place.

    Where a session can rest with something cached it can also lose it: then both places are there.
    """

    program: p.Program
    partial: Partial
    places: list[Place] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    start: list[Passage] = field(default_factory=list)
    after: dict[Rest, list[Passage]] = field(default_factory=dict)


def evicted(place: Place, pool: int) -> Place:
    """The place of a session whose prefix in that pool has been evicted."""
    return replace(place, memory=place.memory.caching(pool, 0))


def automaton(program: p.Program) -> Automaton:
    """The automaton of the session; NotSymbolicError names every construct that has no counter form."""
    return _Builder(program).build()


class _Builder:
    def __init__(self, program: p.Program) -> None:
        self.program = program
        without_queue = frozenset(
            i for i, s in enumerate(program.stages) if isinstance(s.kind, p.ProcessorSharing | p.Delay)
        )
        self.out = Automaton(program, Partial(program.exact_constants(), without_queue))
        self.problems: dict[tuple[Span, str], Diagnostic] = {}
        self.session = Session(program, self.out.partial, self._refuse)

    def build(self) -> Automaton:
        self.out.start = self._passages(self.session.begin())
        todo = self._new(self.out.start)
        while todo:
            rest = todo.pop(0)
            self.out.after[rest] = self._passages(self.session.resume(rest))
            todo += self._new(self.out.after[rest])
        if self.problems:
            raise NotSymbolicError(self.program.source, self._reasons())
        return self.out

    def _reasons(self) -> list[Diagnostic]:
        """Every reason; what follows from a hold that has no form (`cached` has no value) is none of its own."""
        holds = {i.span for i in self.program.code if isinstance(i, p.Hold)}
        refused = [d for (span, _), d in self.problems.items() if span in holds]
        return refused or list(self.problems.values())

    def _new(self, passages: list[Passage]) -> list[Rest]:
        new: list[Rest] = []
        targets = [passage.target for passage in passages if passage.target is not None]
        while targets:
            rest = targets.pop(0)
            known: list[Place] | list[Claim] = self.out.places if isinstance(rest, Place) else self.out.claims
            if rest in known:
                continue
            new.append(rest)
            if isinstance(rest, Claim):
                self.out.claims.append(rest)
            else:
                self.out.places.append(rest)
                targets += [evicted(rest, pool) for pool, _ in rest.memory.entries]
            if len(self.out.places) + len(self.out.claims) > PLACE_LIMIT:
                limit = TooManyPlaces(span=self.program.code[0].span, limit=PLACE_LIMIT)
                raise NotSymbolicError(self.program.source, [limit])
        return new

    def _passages(self, walks: list[Walk]) -> list[Passage]:
        """Follow the walks to where they end, in the order of the program."""
        todo: list[Passage | Walk] = [*walks]
        out: list[Passage] = []
        steps = 0
        while todo:
            walk = todo.pop(0)
            if isinstance(walk, Passage):
                out.append(walk)
                continue
            walk.steps += 1
            steps += 1
            if walk.steps > _STEPS:
                self._refuse(self.program.code[walk.pc].span, "this loop", "it lets no time pass")
                break  # the ways out of a loop double in each round
            if steps > _ALL_STEPS:
                self._refuse(self.program.code[walk.pc].span, "this session", "it can go too many ways at one instant")
                break
            todo = [*self.session.step(walk), *todo]
        return out

    def _refuse(self, span: Span, construct: str, reason: str) -> None:
        self.problems.setdefault((span, construct), NoCounterForm(span=span, construct=construct, reason=reason))
