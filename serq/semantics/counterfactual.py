"""The price of one event that goes another way, from a chain in which it goes either way with probability 1/2.

A transition of that chain carries, as impulses, how often on its way the event went as it does (k) and how often the
other way (m). With probability p of the other way its rate is 2^(k+m) p^m (1-p)^k times what was explored. At p = 0 the
chain is the program's own; its derivative there moves the flow of every event from where it goes to where the other way
leads, and the deviation matrix (`serq.semantics.deviation`) says what that is worth:

    price = E[g(other next state) - g(next state)] at the event,

R. A. Howard's difference of relative values; X.-R. Cao's realization factor (Stochastic Learning and Optimization
(2007), section 2.1). This is the equal-time price. Per turn, and not per unit of time, the same event costs the
derivative of a mean per turn in the probability of the other way.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite
from typing import NamedTuple

from serq.base.errors import UsageError
from serq.ir.chain import Chain, Ratio, Solution, Transition
from serq.ir.expr import Number
from serq.semantics.deviation import Deviation
from serq.semantics.generator import merged_rates
from serq.semantics.price_error import Moves, off_quotient, rounded_up

Solve = Callable[[Chain], Solution]


@dataclass(frozen=True, slots=True)
class EventPrice:
    """What one event that goes the other way costs.

    `rate`: events per unit of time. `measures`: by measure, for a mean over time or a rate the extra integral or count
    (equal-time price), for a mean per event or passage what it rises by per event and turn (equal-turn price).
    `rewards`: the equal-time price of every reward. `bounds` on the errors of the prices of measures and
    `reward_bounds` of rewards, by name: 0 for rationals, none where none is proved.
    """

    rate: Number
    measures: Mapping[str, Number]
    rewards: Mapping[str, Number]
    solution: Solution
    bounds: Mapping[str, float]
    reward_bounds: Mapping[str, float]


class _Outcome(NamedTuple):
    transition: Transition
    kept: int
    changed: int


class Counterfactual:
    """A chain in which the event goes either way, and the program's own chain within it.

    `kept` and `changed` name the observes of the events that went as they do, and of those that did not.
    """

    def __init__(self, chain: Chain, kept: str, changed: str, solve: Solve) -> None:
        self._counters = f"observe.{kept}.", f"observe.{changed}."
        self._outcomes = [_counted(t, f"observe.{kept}.rate", f"observe.{changed}.rate") for t in chain.transitions]
        self.chain = replace(chain, transitions=tuple(_as_it_is(o) for o in self._outcomes if not o.changed))
        self.solution = solve(self.chain)
        self.deviation = Deviation(merged_rates(self.chain), self.solution.probabilities)
        self.rate = self._sum(lambda o: Fraction(o.kept) if not o.changed else Fraction(0))
        if not self.rate:
            raise UsageError("the event never happens in the long run, so it has no price")

    def price(self) -> EventPrice:
        """The price of the event, over all states in which it happens."""
        rewards, errors = self._rewards(range(self.chain.size), bounded=True)
        measures: dict[str, Number] = {}
        bounds: dict[str, float] = {}
        for ratio in self.chain.ratios:
            if isinstance(ratio, Ratio) and not ratio.measure.startswith(self._counters):
                price, bound = self._of(ratio, rewards, errors)
                if price is not None:
                    measures[ratio.measure] = price
                    bounds |= {} if bound is None else {ratio.measure: bound}
        return EventPrice(self.rate, measures, rewards, self.solution, bounds, errors)

    def states_after(self) -> frozenset[int]:
        """The states in which the chain may be right after the event."""
        seen = (o.transition for o in self._outcomes if o.kept and not o.changed)
        return frozenset(t.target for t in seen if self.solution.probabilities[t.source])

    def rewards(self, after: Collection[int]) -> dict[str, Number]:
        """The equal-time price of every reward, of the events after which the chain is in one of these states.

        Whatever way the event goes, the chain must be in one of them, or in none.
        """
        return self._rewards(after, bounded=False)[0]

    def _rewards(self, after: Collection[int], bounded: bool) -> tuple[dict[str, Number], dict[str, float]]:
        """The prices of `rewards`, and bounds on their errors where they are proved."""
        everything = {*self.chain.state_rewards, *self.chain.impulse_names()}
        for ratio in self.chain.ratios:
            if isinstance(ratio, Ratio):
                everything |= {name for name in (*(n for _, n in ratio.terms), ratio.per) if name is not None}
        names = sorted(name for name in everything if not name.startswith(self._counters))
        zero = Fraction(0) if self.deviation.is_exact else 0.0
        push: list[Number] = [zero] * self.chain.size
        at_once: dict[str, Number] = dict.fromkeys(names, zero)
        events: Number = zero
        moves = Moves(self.solution.bound)
        for outcome in self._outcomes:
            factor = _slope_at_zero(outcome)
            t = outcome.transition
            if not factor or t.target not in after:
                continue
            flow = self._flow(t, factor)
            push[t.target] += flow
            moves.add(t, factor, flow)
            for name, value in t.impulses:
                if name in at_once:
                    at_once[name] += flow * (value if self.deviation.is_exact else float(value))
            events -= flow if factor < 0 else zero
        change = [x / events for x in push]
        moved, off = self.deviation.row_within(change, moves.off_change(events), moves.doubt if bounded else inf)
        table = self.chain.reward_table(names)
        prices = {name: at_once[name] / events + self._earned(moved, table[name]) for name in names}
        if self.deviation.is_exact:
            return prices, dict.fromkeys(names, 0.0)
        if off is None or not bounded:
            return prices, {}
        bounds = {name: moves.off_price(name, events, at_once[name], table[name], (moved, off)) for name in names}
        return prices, {name: bound for name, bound in bounds.items() if isfinite(bound)}

    def _earned(self, moved: Sequence[Number], reward: Sequence[Fraction]) -> Number:
        """What the time that is moved between states earns: a reward that is everywhere the same earns nothing."""
        level = reward[0]
        return self._dot(moved, [x - level for x in reward] if level else reward)

    def _of(
        self, ratio: Ratio, rewards: Mapping[str, Number], errors: Mapping[str, float]
    ) -> tuple[Number | None, float | None]:
        """The price of a measure, and a bound on its error."""
        above = self._weighted(ratio, rewards)
        known = all(name in errors for name in (*(n for _, n in ratio.terms), *([ratio.per] if ratio.per else [])))
        off = sum(float(abs(weight)) * errors[name] for weight, name in ratio.terms) if known else inf
        if ratio.per is None:
            return above, rounded_up(off, above)
        table = self.chain.reward_table([*(name for _, name in ratio.terms), ratio.per])
        means = {name: self._dot(self.solution.probabilities, vector) for name, vector in table.items()}
        if not means[ratio.per]:
            return None, None
        mean, more = self._weighted(ratio, means) / means[ratio.per], rewards[ratio.per]
        value = above - mean * more
        if self.deviation.is_exact:
            return value, 0.0
        doubt = inf if self.solution.bound is None else self.solution.bound
        off_mean = off_quotient(ratio, mean, means[ratio.per], table, doubt)
        off += off_mean * abs(float(more)) + (abs(float(mean)) + off_mean) * errors.get(ratio.per, inf)
        return value, rounded_up(off, abs(float(above)) + abs(float(mean) * float(more)))

    def _weighted(self, ratio: Ratio, values: Mapping[str, Number]) -> Number:
        if self.deviation.is_exact:
            return sum((weight * values[name] for weight, name in ratio.terms), Fraction(0))
        return sum(float(weight) * float(values[name]) for weight, name in ratio.terms)

    def _flow(self, t: Transition, factor: Fraction) -> Number:
        probability, rate = self.solution.probabilities[t.source], t.rate * factor
        return probability * rate if self.deviation.is_exact else float(probability) * float(rate)

    def _sum(self, weight: Callable[[_Outcome], Fraction]) -> Number:
        zero: Number = Fraction(0) if self.deviation.is_exact else 0.0
        return sum((self._flow(o.transition, weight(o) * 2**o.kept) for o in self._outcomes), zero)

    def _dot(self, a: Sequence[Number], b: Sequence[Fraction]) -> Number:
        if self.deviation.is_exact:
            return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))
        return float(sum(float(x) * float(y) for x, y in zip(a, b, strict=True)))


def _counted(t: Transition, kept: str, changed: str) -> _Outcome:
    counts = dict(t.impulses)
    return _Outcome(t, int(counts.get(kept, 0)), int(counts.get(changed, 0)))


def _as_it_is(outcome: _Outcome) -> Transition:
    """The transition at p = 0."""
    t, factor = outcome.transition, 2**outcome.kept
    return replace(t, rate=t.rate * factor, coefficient=t.coefficient * factor)


def _slope_at_zero(outcome: _Outcome) -> Fraction:
    """The derivative of 2^(k+m) p^m (1-p)^k at p = 0."""
    if outcome.changed == 0:
        return Fraction(-outcome.kept * 2**outcome.kept)
    return Fraction(2 ** (outcome.kept + 1)) if outcome.changed == 1 else Fraction(0)
