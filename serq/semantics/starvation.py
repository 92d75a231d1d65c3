"""Who waits for ever while others go on: then Little's law does not give the mean wait of those who are served.

Little's law counts whoever is there; a session that never leaves is there all the time and is never averaged over. In
a recurrent class it stays so for ever: from no state in which it waits is there a way to one in which it goes on. So a
session of every state is marked in turn, and its ways are followed until it goes on.

Hardly any program needs that. In a place that is empty in some recurrent state nobody stays for ever, as the chain
comes back to that state; a line first come first served takes in everybody while it takes in anybody.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from serq.ir import program as p
from serq.ir.chain import Chain, Ratio, Solution
from serq.ir.results import Estimate
from serq.semantics.control import Control, control_of
from serq.semantics.explore import ExploreOptions, with_limit
from serq.semantics.mapping import map_measures
from serq.semantics.marked_clocks import MarkedClocks
from serq.semantics.marked_events import WENT_ON, MarkedEvents, marked_state, sorted_state
from serq.semantics.records import State
from serq.semantics.timing import has_clocks

MOST_STATES = 400
"""States of a chain up to which it is looked for sessions that wait for ever."""
_ALWAYS = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Crowded:
    """Where somebody is in every recurrent state, by what names it: queues of pools, stages, growing holds (None)."""

    pools: tuple[int, ...]
    stages: tuple[int, ...]
    growers: bool

    def __bool__(self) -> bool:
        return bool(self.pools or self.stages or self.growers)


def crowded(program: p.Program, chain: Chain, solution: Solution) -> Crowded:
    """The places of a chain in which somebody may wait for ever."""
    recurrent = [i for i, probability in enumerate(solution.probabilities) if probability]
    rewards = chain.state_rewards

    def least(names: Sequence[str], whole: str | None = None) -> bool:
        """Whether there is always somebody: among those of the whole that are not in the others."""
        signs = [(name, 1) for name in names] if whole is None else [(whole, 1), *((name, -1) for name in names)]
        vectors = [(rewards[name], sign) for name, sign in signs]
        return all(sum(sign * vector[i] for vector, sign in vectors) >= _ALWAYS for i in recurrent)

    queues = [f"pool.{pool.name}.queue" for pool in program.pools]
    numbers = [f"stage.{stage.name}.number" for stage in program.stages]
    steps = [s for s, stage in enumerate(program.stages) if isinstance(stage.kind, p.Step)]
    return Crowded(
        tuple(i for i, name in enumerate(queues) if least([name]) and not _goes_round(program, i, chain, recurrent)),
        tuple(s for s in steps if least([numbers[s]])),
        bool(program.pools) and least([*queues, *numbers], "sessions.number"),
    )


def _goes_round(program: p.Program, pool: int, chain: Chain, recurrent: Sequence[int]) -> bool:
    """Whether the pool's line is first come first served, and somebody is admitted now and then."""
    if program.pools[pool].queue or any(pool.preempt != "none" for pool in program.pools):
        return False
    admissions = chain.reward_rates(f"pool.{program.pools[pool].name}.admissions")
    return any(admissions[i] for i in recurrent)


def waiting_for_ever(program: p.Program, places: Crowded, options: ExploreOptions) -> frozenset[int]:
    """The instructions at which some session waits for ever in the long run."""
    return _Search(with_limit(program, options.limit), options).found(places)


class _Search:
    """The states of a program session by session, and where a marked one goes."""

    def __init__(self, program: p.Program, options: ExploreOptions) -> None:
        control = control_of(program)
        made = MarkedClocks if has_clocks(control) else MarkedEvents
        self._events: MarkedClocks | MarkedEvents = made(control, options.quotients, options.phase_type)
        self._program = program

    def found(self, places: Crowded) -> frozenset[int]:
        """The instructions at which a session of a recurrent state waits and never goes on."""
        after: dict[State, set[State]] = {}
        todo = [sorted_state(step.state) for step in self._events.beginnings()]
        while todo:
            state = todo.pop()
            if state not in after:
                after[state] = {sorted_state(step.state) for step in self._events.everything(state, marked=False)}
                todo += after[state]
        records = self._events.codec.records
        marked = [
            marked_state(state, place)
            for state in _recurrent(after)
            for place, code in enumerate(state)
            if (not place or state[place - 1] != code) and self._is_there(records[code].pc, records[code].place, places)
        ]
        stuck = self._stuck(marked)
        return frozenset(records[state[0]].pc for state in marked if state in stuck)

    def _is_there(self, pc: int, place: Sequence[object], places: Crowded) -> bool:
        """Whether a record is that of a session which waits in one of the places."""
        if pc < 0:
            return False
        step = self._program.code[pc]
        if isinstance(step, p.Run):
            return place[0] in places.stages
        return places.growers if isinstance(step, p.Grow) else place[0] in places.pools

    def _stuck(self, marked: Collection[State]) -> set[State]:
        """The states from which the marked session goes on by no way."""
        before: dict[State, list[State]] = {}
        gone: list[State] = []
        todo, seen = list(marked), set(marked)
        while todo:
            state = todo.pop()
            for target in self._ways(state):
                if target is None:
                    gone.append(state)
                    continue
                before.setdefault(target, []).append(state)
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
        free = set(gone)
        while gone:
            for state in before.get(gone.pop(), ()):
                if state not in free:
                    free.add(state)
                    gone.append(state)
        return seen - free

    def _ways(self, state: State) -> "set[State | None]":
        """The states that follow in which the marked session still waits; None where it has gone on."""
        records = self._events.codec.records
        out: set[State | None] = set()
        for step in self._events.everything(state, marked=True):
            mark = step.before[0] if step.before else None
            went = mark is not None and any(d.session is mark and d.name == WENT_ON for d in step.deeds)
            same = not went and records[step.state[0]].pc == records[state[0]].pc
            out.add(marked_state(step.state, 0) if same else None)
        return out


def _recurrent(after: Mapping[State, Collection[State]]) -> list[State]:
    """The states of the closed classes."""
    import networkx as nx

    graph = nx.DiGraph((state, target) for state, targets in after.items() for target in targets)
    graph.add_nodes_from(after)
    return [state for part in nx.attracting_components(graph) for state in part]


# -- what it means for the answers -----------------------------------------------------------------------------------


def without_means_of(
    program: p.Program, chain: Chain, estimates: Sequence[Estimate], stuck: frozenset[int]
) -> tuple[Estimate, ...]:
    """The answers without the mean times in which sessions count that wait for ever at these instructions."""
    counted = _counted(program, control_of(program), stuck)
    lines = ", ".join(str(line) for line in sorted({program.code[pc].span.line for pc in stuck}))
    reason = f"a session waits for ever at line {lines} while others go on, and Little's law counts it"
    ratios = {r.measure: r for r in chain.ratios if isinstance(r, Ratio)}
    out = []
    for estimate in estimates:
        ratio = ratios.get(estimate.measure)
        if ratio is not None and ratio.per is not None and any(name in counted for _, name in ratio.terms):
            estimate = Estimate(estimate.measure, estimate.witness, None, estimate.method, reason=reason)
        out.append(estimate)
    return tuple(out)


def _counted(program: p.Program, control: Control, stuck: frozenset[int]) -> frozenset[str]:
    """The state rewards that count sessions at these instructions."""
    regions = map_measures(control).regions
    names = {name for name, region in regions.items() if region & stuck}
    for pc in stuck:
        step = program.code[pc]
        if isinstance(step, p.Run):
            kinds = ("number", "waiting")
            stages = range(step.stage.base, step.stage.base + step.stage.size)
            names |= {f"stage.{program.stages[s].name}.{kind}" for s in stages for kind in kinds}
        elif isinstance(step, p.Hold):
            first = step.parts[0].pool
            names |= {f"pool.{program.pools[i].name}.queue" for i in range(first.base, first.base + first.size)}
    return frozenset(names)
