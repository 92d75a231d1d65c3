"""The embedded chain of a program with clocks: slotted and semi-Markov programs, their iterations among them.

A state is looked at when it is entered: after an exponential event while no clock runs, or when clocks have rung. From
there it is known how long it lasts on average and where it leads. If P are the probabilities and h the mean times, the
chain with the rates P / h has the long-run averages of the program, since it spends the same shares of time everywhere
and makes the same passages per unit of time (Cinlar, Introduction to Stochastic Processes, 1975, section 10.4; clocks
beside exponential events: Ajmone Marsan and Chiola 1987). Rates are what a `Chain` keeps; its `embedded` has h.
"""

from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

from serq.ir import program as p
from serq.ir.chain import Approximation, Chain, Embedded, Nearness, Transition
from serq.semantics.between import spread
from serq.semantics.events import Event, Events, Impulse, Outcome
from serq.semantics.exploration import Exploration, ExploreOptions
from serq.semantics.records import State
from serq.semantics.rewards import state_rewards
from serq.semantics.timed_events import TimedEvents


class TimedExploration(Exploration):
    """A search among the states in which nothing is left to happen at the present instant."""

    events_type: ClassVar[type[Events]] = TimedEvents
    events: TimedEvents

    def __init__(self, program: p.Program, options: ExploreOptions) -> None:
        super().__init__(program, options)
        self._holding: list[Fraction] = []
        self._fixed = True
        self._between: dict[int, list[tuple[State, Fraction]]] = {}
        """By number of a state that exponential events change before the next clock rings: shares of its time."""
        self._passing: dict[int, dict[str, Fraction]] = {}
        """What is earned by these events, per unit of time."""
        self._known_events: dict[State, list[Event]] = {}
        self._known_rings: dict[State, list[Outcome]] = {}
        self._known_gauges: dict[State, list[Fraction]] = {}

    # -- searching ---------------------------------------------------------------------------------------------------

    def _expand(self, source: int) -> None:
        state = self.states[source]
        clocks = self.events.clocks(state)
        if not clocks:
            self._expand_free(source)
            return
        left = min(clock.left for clock in clocks)
        self._holding.append(left)
        if self._events_of(state):
            self._expand_between(source, left)
            return
        if self._gauges:
            self._read_gauges(state)
        self._lead(source, left, [(Fraction(1), state)])

    def _expand_free(self, source: int) -> None:
        """No clock runs: what happens next is exponential, as in any chain."""
        first = len(self.transitions)
        super()._expand(source)
        rate = sum((t.rate for t in self.transitions[first:]), Fraction(0))
        self._holding.append(1 / rate if rate else Fraction(1))
        self._fixed &= not rate

    def _expand_between(self, source: int, left: Fraction) -> None:
        """Clocks run and exponential events happen: where have they led when the next clock rings?"""
        places, rates = self._subordinated(self.states[source])
        states = list(places)
        found = spread(rates, left)
        shares = [(state, time / left) for state, time in zip(states, found.stayed, strict=True)]
        self._between[source] = shares
        passing: dict[str, Fraction] = {}
        for state, share in shares:
            for coefficient, symbol, _, earned in self._events_of(state):
                for name, value in earned:
                    rate = share * coefficient * self.events.laws.symbols[symbol].value
                    passing[name] = passing.get(name, Fraction(0)) + rate * value
        self._passing[source] = passing
        for kept, values in zip(
            self._gauges, zip(*(self._gauges_in(state) for state in states), strict=True), strict=True
        ):
            kept.append(sum((share * value for (_, share), value in zip(shares, values, strict=True)), Fraction(0)))
        self._lead(source, left, [(q, state) for q, state in zip(found.at_end, states, strict=True) if q])

    def _subordinated(self, state: State) -> tuple[dict[State, int], list[dict[int, Fraction]]]:
        """The states that exponential events lead to from a state in which clocks run, and the rates among them."""
        places = {state: 0}
        rates: list[dict[int, Fraction]] = []
        for here in (queue := [state]):
            row: dict[int, Fraction] = {}
            for coefficient, symbol, target, _ in self._events_of(here):
                if target not in places:
                    places[target] = len(queue)
                    queue.append(target)
                rate = coefficient * self.events.laws.symbols[symbol].value
                if target != here:
                    row[places[target]] = row.get(places[target], Fraction(0)) + rate
            rates.append(row)
        return places, rates

    def _lead(self, source: int, left: Fraction, ends: list[tuple[Fraction, State]]) -> None:
        """The transitions out of a state in which clocks ring after a time, given the states they may ring in."""
        arcs: dict[tuple[int, Impulse], Fraction] = {}
        for chance, state in ends:
            for probability, target, earned in self._rings_of(state):
                arc = self._place(target), earned
                arcs[arc] = arcs.get(arc, Fraction(0)) + chance * probability
        symbol = self.events.laws.symbol(str(1 / left), 1 / left)
        for (target_place, earned), coefficient in arcs.items():
            self.transitions.append(Transition(source, target_place, coefficient / left, coefficient, symbol, earned))

    def _events_of(self, state: State) -> list[Event]:
        known = self._known_events.get(state)
        if known is None:
            known = self._known_events[state] = list(self.events.of(state))
        return known

    def _rings_of(self, state: State) -> list[Outcome]:
        known = self._known_rings.get(state)
        if known is None:
            known = self._known_rings[state] = list(self.events.ring(state))
        return known

    def _gauges_in(self, state: State) -> list[Fraction]:
        known = self._known_gauges.get(state)
        if known is None:
            known = self._known_gauges[state] = self._gauge_values(state)
        return known

    # -- the chain ---------------------------------------------------------------------------------------------------

    def chain(self) -> Chain:
        """What was found, as plain data."""
        rounded = bool(self._between) or bool(self.events.laws.rounded)
        alone = self._fixed and not self._between
        return replace(super().chain(), embedded=Embedded(tuple(self._holding), self._fixed, rounded, alone))

    def _state_rewards(self) -> dict[str, tuple[Fraction, ...]]:
        """Per state the mean over its stay, what is earned within it included."""
        rewards = super()._state_rewards()
        if not self._between:
            return rewards
        states = list({state: None for shares in self._between.values() for state, _ in shares})
        place = {state: i for i, state in enumerate(states)}
        records, regions = self.events.codec.records, self.mapping.regions
        within = state_rewards(self.program, records, states, regions)
        for name, values in within.items():
            mixed = list(rewards[name])
            for source, shares in self._between.items():
                mixed[source] = _mixed([(share, values[place[state]]) for state, share in shares])
            rewards[name] = tuple(mixed)
        for name in sorted({name for passing in self._passing.values() for name in passing}):
            rewards[name] = tuple(self._passing.get(i, {}).get(name, Fraction(0)) for i in range(len(self.states)))
        return rewards

    def lumped(self) -> tuple[str, ...]:
        """The quotients in words, that of trials among them."""
        words = super().lumped()
        if not self.options.quotients.symmetry:
            return words
        return (*words, "of sessions that are alike and stand together it only counts how many end in a slot")

    def approximated(self) -> tuple[Approximation, ...]:
        """What was put in the place of what."""
        if not self._between:
            return super().approximated()
        what = "what happens while a clock runs has irrational probabilities (exponentials): doubles stand for them"
        return (*super().approximated(), Approximation(Nearness.EXPONENTIALS, what))


def _mixed(shares: list[tuple[Fraction, Fraction]]) -> Fraction:
    """A mean, as the double next to it: its weights are doubles."""
    return Fraction(float(sum((share * value for share, value in shares), Fraction(0))))
