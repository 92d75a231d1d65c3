"""A program before its steady state: its measures at a time, and when it first comes to some states.

It starts as it is written, or, given a set of states, from those as likely as they are in the long run.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from serq.base.errors import UsageError
from serq.ir.chain import Chain
from serq.ir.expr import Number
from serq.ir.program import Program
from serq.ir.results import Estimate
from serq.pipeline import SolveOptions, explore_finite, solve_chain
from serq.semantics.clocked_transient import at_instant
from serq.semantics.continuous import not_beside_clocks
from serq.semantics.first_passage import entering
from serq.semantics.generator import merged_rates
from serq.semantics.near_values import as_near_values, near_bound, near_number
from serq.semantics.predicates import states_where
from serq.semantics.transient import At, at_time, values_at


@dataclass(frozen=True)
class Passing:
    """What was found. `estimates` are the measures at `time` (none without one).

    `mean_time`: until the states `until` are first entered, None where they may never be; `chance` that they are by
    `time`, and a bound on its error; `ever`: that they are at all.
    """

    chain: Chain
    initial: str | None
    time: float | None
    until: str | None
    estimates: tuple[Estimate, ...]
    mean_time: Number | None
    chance: float | None
    chance_bound: float | None
    ever: Number | None = None


def passing(
    program: Program,
    time: float | None,
    initial: str | None,
    until: str | None,
    options: SolveOptions,
    progress: Callable[[int, int], None] | None = None,
) -> Passing:
    """Follow the chain from the beginning, or from the states `initial`, to a time and to the states `until`.

    UsageError for a set of states that is none; NoSteadyStateError when `initial` asks for a steady state that does
    not exist; LimitError where the time takes too many steps.
    """
    if time is None and until is None:
        raise UsageError("say which time, or until which states")
    asked = "what happens by a time, or until some states are entered,"
    chain = explore_finite(program, options, asked, progress)
    not_beside_clocks(chain, "--transient and --until are questions")
    start = _start(chain, program, initial, options)
    estimates: tuple[Estimate, ...] = ()
    if time is not None:
        found = values_at(chain, _at(chain, start, time), _METHOD[chain.embedded is None])
        estimates = as_near_values(chain, found)
    if until is None:
        return Passing(chain, initial, time, until, estimates, None, None, None)
    target = states_where(chain, until)
    rows = merged_rates(chain)
    first = entering(rows, start, target)
    mean_time = None if first.mean_time is None else near_number(chain, first.mean_time)
    ever = near_number(chain, first.chance)
    if time is None:
        return Passing(chain, initial, time, until, estimates, mean_time, None, None, ever)
    entered = _at(chain, start, time, target)
    chance = float(sum(entered.probabilities[i] for i in target))
    chance_bound = near_bound(chain, entered.bound, 1.0)
    return Passing(chain, initial, time, until, estimates, mean_time, min(chance, 1.0), chance_bound, ever)


_METHOD = {True: "uniformisation", False: "from instant to instant"}
"""By whether time is continuous."""


def _at(chain: Chain, start: Sequence[Number], time: float, stopped: Collection[int] = ()) -> At:
    """The chain at a time; nobody leaves a state that is stopped."""
    if chain.embedded is not None:
        return at_instant(chain, start, time, stopped)
    rows = merged_rates(chain)
    return at_time(tuple({} if i in stopped else row for i, row in enumerate(rows)), start, time)


def _start(chain: Chain, program: Program, initial: str | None, options: SolveOptions) -> list[Number]:
    start: list[Number] = [Fraction(0)] * chain.size
    if initial is None:
        for state, probability in chain.initial:
            start[state] = probability
        return start
    where = states_where(chain, initial)
    probabilities = solve_chain(chain, program, replace(options, method="auto")).solution.probabilities
    total = sum(probabilities[i] for i in where)
    if not total:
        raise UsageError(f"in the long run there is no state in which {initial.strip()}")
    for i in where:
        start[i] = probabilities[i] / total
    return start
