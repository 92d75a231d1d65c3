"""One event that goes another way: the program in which it may, and the price (`serq.semantics.counterfactual`).

`work := EXPR` at a run: one passage works EXPR instead, and the cache stays as it is. `entry lost` at a hold: once, the
prefix that the hold leaves cached is lost at once, which makes a miss of the next turn but frees units for the others
in the meantime. `reuse := 0` at a hold: once, it finds nothing to reuse, whatever is cached: the miss itself. These are
different prices.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from serq.base.errors import LimitError, LoadError, UsageError
from serq.base.source import SourceFile, Span
from serq.check.overrides import OverrideValue
from serq.ir import program as p
from serq.ir.chain import Chain, Solution
from serq.ir.expr import Number, double
from serq.pipeline import SolveOptions, explore_finite, in_rationals, limited, load_text
from serq.semantics.answers import answers
from serq.semantics.counterfactual import Counterfactual, EventPrice, Solve
from serq.semantics.near_values import near_bound
from serq.semantics.solve import stationary
from serq.syntax.parser import parse_expression

KEPT, CHANGED = "event_as_it_is", "event_changed"
LOST = "entry lost"
_MISSED = "event_missed"


@dataclass(frozen=True, slots=True)
class PricedEvent:
    """The price of an event. `present` is the price in session-time away from delays (the equal-time price).

    `by_number`: the same by the number of sessions away from delays right after the event. `usual`: the long-run values
    of the program, where the event goes as it does. `bound` on the error of `present`, and `bounds` on those of the
    measures, where they are proved (0 for a rational).
    """

    event: str
    line: int
    price: EventPrice
    present: Number
    by_number: Mapping[Fraction, Number]
    usual: Mapping[str, Number]
    bound: float | None
    bounds: Mapping[str, float]


def price_of_event(
    program: p.Program, overrides: Mapping[str, OverrideValue], event: str, at: str | None, options: SolveOptions
) -> PricedEvent:
    """The price of an event, `work := EXPR`, `reuse := EXPR` or `entry lost`, at the statement at LINE or LINE:COLUMN.

    UsageError for an event or a place that is none. Raises what exploring and solving raise.
    """
    statement = statement_of(program, event, at)
    changed = limited(load_text(with_event(program, event, at), program.source.name, overrides).program, options.limit)
    found = counterfactual(changed, options)
    price = found.price()
    by_number = {}
    for number, states in _by_number(changed, found).items():
        by_number[number] = present_of(changed, found.rewards(states))
    known = answers(found.chain, found.solution)
    usual = {estimate.measure: estimate.value for estimate in known if estimate.value is not None}
    present, near = present_of(changed, price.rewards), partial(_near_bound, found.chain)
    bounds = {name: x for name, bound in price.bounds.items() if (x := near(bound, price.measures[name])) is not None}
    bound = near(_present_bound(changed, price.reward_bounds), present)
    return PricedEvent(event, statement.span.line, price, present, by_number, usual, bound, bounds)


def _near_bound(chain: Chain, bound: float | None, value: Number) -> float | None:
    return near_bound(chain, bound, abs(double(value)))


def _present_bound(program: p.Program, bounds: Mapping[str, float]) -> float | None:
    """On the error of `present_of` the prices of the rewards."""
    names = ["sessions.number", *_delays(program)]
    return sum(bounds[name] for name in names) if all(name in bounds for name in names) else None


def with_event(program: p.Program, event: str, at: str | None) -> str:
    """The text of the program in which the event goes the other way with probability 1/2, and both ways are observed.

    UsageError as for `price_of_event`.
    """
    return edited(program.source.text, event_edits(program, statement_of(program, event, at), event))


def counterfactual(program: p.Program, options: SolveOptions) -> Counterfactual:
    """The chain of a program made by `with_event`."""
    chain = explore_finite(program, options, "the exact price of an event", instead=_BY_RUNS)
    if any(f"observe.{name}.rate" in chain.state_rewards for name in (KEPT, CHANGED)):
        raise LimitError(_WHILE_A_CLOCK_RUNS)
    return Counterfactual(chain, KEPT, CHANGED, _solver(program, options))


_WHILE_A_CLOCK_RUNS = (
    "the event happens while a clock runs, and of what exponential events do meanwhile only means are known: one event "
    "of a semi-Markov program has an exact price where it happens when a clock rings, or while none runs"
)


_BY_RUNS = "its price by simulation does not"


def _solver(program: p.Program, options: SolveOptions) -> Solve:
    def solve(chain: Chain) -> Solution:
        exact = in_rationals(chain, options) and not chain.is_near
        return stationary(chain, exact=exact, method=options.method, source=program.source)

    return solve


# -- the program in which the event may go another way ---------------------------------------------------------------


def statement_of(program: p.Program, event: str, at: str | None) -> p.Run | p.Hold:
    """The statement that the event is about, the only one of its kind where `at` is None.

    UsageError for an event or a place that is none.
    """
    kind = p.Run if _changes(event, "work") else p.Hold
    if event != LOST and not _changes(event, "work") and not _changes(event, "reuse"):
        raise UsageError(f"the event is `work := EXPR`, `reuse := EXPR` or `{LOST}`, not {event!r}")
    if event != LOST:
        _check_expression(event)
    found = [step for step in program.code if isinstance(step, kind) and _stands(step.span, at)]
    if len(found) == 1:
        return found[0]
    what = "hold" if kind is p.Hold else "run"
    where = "in the program" if at is None else f"at {at}"
    others = [step.span for step in program.code if isinstance(step, kind)]
    places = ", ".join(f"{span.line}:{span.column}" for span in others) or "none"
    count = "no" if not found else "more than one"
    raise UsageError(f"there is {count} {what} {where}; say which with --at LINE:COLUMN (there are: {places})")


def _changes(event: str, what: str) -> bool:
    name, sign, expression = event.partition(":=")
    return name.strip() == what and bool(sign) and bool(expression.strip())


def _check_expression(event: str) -> None:
    """UsageError where the event has no expression; what its names mean is found in the program."""
    try:
        parse_expression(SourceFile("--do", instead(event)))
    except LoadError as error:
        raise UsageError(f"--do {event}: {instead(event)!r} is no expression: {error.diagnostics[0].message}") from None


def instead(event: str) -> str:
    """What the event says that there is instead."""
    return event.partition(":=")[2].strip()


def _stands(span: Span, at: str | None) -> bool:
    if at is None:
        return True
    line, _, column = at.partition(":")
    if not line.isdecimal() or not (column.isdecimal() or not column):
        raise UsageError(f"--at takes LINE or LINE:COLUMN, not {at!r}")
    return span.line == int(line) and (not column or span.column == int(column))


class Edit(NamedTuple):
    """From one offset of a text to another there is another text."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def event_edits(program: p.Program, statement: p.Run | p.Hold, event: str) -> list[Edit]:
    """A branch at the statement, whose ways are observed; lines stay where they are."""
    text = program.source.text
    start, end = offsets(text, statement.span)
    kept, changed = f"observe {KEPT} = 1;", f"observe {CHANGED} = 1;"
    if isinstance(statement, p.Run):
        first, last = offsets(text, statement.work.span)
        other = text[start:first] + instead(event) + text[last:end]
        return [Edit(start, end, f"branch (0.5) {{ {kept} {text[start:end]} }} else {{ {changed} {other} }}")]
    pools = [text[slice(*offsets(text, part.pool.span))] for part in statement.parts]
    cached = " || ".join(f"cachedin({pool}) > 0" for pool in pools)
    if event == LOST:
        drops = " ".join(f"drop {pool};" for pool in pools)
        lost = f" branch ({cached}) {{ branch (0.5) {{ {kept} }} else {{ {changed} {drops} }} }}"
        return [Edit(end, end, lost)]
    missed = f"branch ({cached}) {{ branch (0.5) {{ {kept} }} else {{ {changed} set {_MISSED} = 1; }} }}"
    return [Edit(start, start, f"set {_MISSED} = 0; {missed} "), _reuse(text, statement, instead(event))]


def _reuse(text: str, hold: p.Hold, other: str) -> Edit:
    """What a hold reuses of its prefix: something else where the event goes the other way."""
    if hold.reuse is not None:
        first, last = offsets(text, hold.reuse.span)
        return Edit(first, last, f"{_MISSED} ? {other} : {text[first:last]}")
    _, last = offsets(text, hold.parts[-1].span)
    return Edit(last, last, f" reuse ({_MISSED} ? {other} : inf)")


def offsets(text: str, span: Span) -> tuple[int, int]:
    """Where a span begins and ends in the text."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1


# -- session-time away from delays -----------------------------------------------------------------------------------


def _delays(program: p.Program) -> list[str]:
    return [f"stage.{stage.name}.number" for stage in program.stages if isinstance(stage.kind, p.Delay)]


def present_of(program: p.Program, values: Mapping[str, Any]) -> Any:
    """What is said of the number of sessions away from delays, given what is said of each number."""
    return values["sessions.number"] - sum(values[name] for name in _delays(program))


def _by_number(program: p.Program, found: Counterfactual) -> dict[Fraction, set[int]]:
    """The states by the number of sessions away from delays, for every number that there may be after the event."""
    rewards = found.chain.state_rewards
    names = ("sessions.number", *_delays(program))
    groups: dict[Fraction, set[int]] = {}
    for state in range(found.chain.size):
        number = Fraction(present_of(program, {name: rewards[name][state] for name in names}))
        groups.setdefault(number, set()).add(state)
    after = found.states_after()
    return {number: groups[number] for number in sorted(groups) if groups[number] & after}
