"""The price of one event by every method that has one: the chain, pairs of runs, formulas; and whether they agree.

Chain and simulation say something of the program itself and are tested against each other. Formulas say something of a
simpler system, and what they assume is a part of their answer: they are not tested.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

from serq.base.errors import LimitError, NoSteadyStateError, OutsideFragmentError, UsageError
from serq.check.overrides import OverrideValue
from serq.compare.agree import FALSE_ALARM, Agreement, compare
from serq.ir import program as p
from serq.ir.expr import Number, double
from serq.ir.measures import Measure, measures_of
from serq.ir.results import Estimate
from serq.pipeline import SimulateOptions, SolveOptions
from serq.studies.event import PricedEvent, price_of_event, statement_of
from serq.studies.event_formulas import Assumed, event_formulas
from serq.studies.tasks import Method
from serq.studies.twin_text import ALL, twin
from serq.studies.twins import PRESENT, Progress, TwinPrice, look_at, twin_price

PRICE = Measure("sessions", "", "present", "session-time away from delays", "time")
assert PRICE.name == PRESENT


@dataclass(frozen=True)
class EventQuestion:
    """The event, and how it is priced. `follow`: how long pairs are followed, None for as long as it takes."""

    event: str
    at: str | None
    methods: Collection[Method]
    solving: SolveOptions
    simulation: SimulateOptions
    follow: float | None = None


@dataclass(frozen=True)
class EventAnswer:
    """What the methods say. `no_chain`: why the exact method has no answer. `agreement` of chain and simulation."""

    event: str
    line: int
    exact: PricedEvent | None
    no_chain: str
    simulated: TwinPrice | None
    formulas: tuple[Assumed, ...]
    agreement: Agreement

    @property
    def agrees(self) -> bool:
        """Whether chain and simulation agree, where both have an answer."""
        return self.agreement.agrees


def answer_event(
    program: p.Program,
    overrides: Mapping[str, OverrideValue],
    asked: EventQuestion,
    progress: Callable[[float], object] | None = None,
) -> EventAnswer:
    """The price of an event by the methods asked for.

    UsageError for an event or a place that is none; what exploring and solving raise where nothing but the exact method
    is asked, what simulating raises.
    """
    statement = statement_of(program, asked.event, asked.at)
    exact, no_chain = None, ""
    if "exact" in asked.methods:
        exact, no_chain = _exact(program, overrides, asked)
    simulated, formulas = _by_runs(program, overrides, asked, {} if exact is None else exact.usual, progress)
    agreement = compare((PRICE, *measures_of(program)), _simulated(simulated), _solved(exact), (), FALSE_ALARM)
    return EventAnswer(asked.event, statement.span.line, exact, no_chain, simulated, formulas, agreement)


def _exact(
    program: p.Program, overrides: Mapping[str, OverrideValue], asked: EventQuestion
) -> tuple[PricedEvent | None, str]:
    try:
        return price_of_event(program, overrides, asked.event, asked.at, asked.solving), ""
    except (OutsideFragmentError, NoSteadyStateError, LimitError) as error:
        if len(asked.methods) == 1:
            raise
        diagnostics = getattr(error, "diagnostics", ())
        return None, "; ".join(d.message for d in diagnostics) or str(error)


def _by_runs(
    program: p.Program,
    overrides: Mapping[str, OverrideValue],
    asked: EventQuestion,
    exact: Mapping[str, Number],
    progress: Progress | None,
) -> tuple[TwinPrice | None, tuple[Assumed, ...]]:
    """What needs runs: pairs of them, and the works that formulas are about. `exact`: what the chain knows already."""
    if not {"sim", "closed"} & set(asked.methods):
        return None, ()
    if "sim" not in asked.methods and asked.simulation.horizon is None and program.run.horizon is None:
        raise UsageError("the formulas are about works that a run shows: give a --horizon")
    made = twin(program, overrides, asked.event, asked.at)
    look = look_at(made, asked.simulation)
    simulated = None
    if "sim" in asked.methods:
        simulated = twin_price(made, program, look, asked.simulation, asked.follow, progress)
    works = look.works if simulated is None else simulated.works
    wanted = "closed" in asked.methods
    decodes = isinstance(made.statement, p.Run) and made.statement.phase == "decode"
    usual = {name: double(e.value) for name, e in look.usual.items() if e.value is not None}
    usual |= {name: double(value) for name, value in exact.items()}
    if exact and made.stage is not None:
        usual[f"observe.{ALL}.rate"] = usual[f"stage.{made.program.stages[made.stage].name}.throughput"]
    return simulated, event_formulas(made.program, made.stage, works, usual, decodes) if wanted else ()


def _simulated(found: TwinPrice | None) -> tuple[Estimate, ...]:
    return () if found is None else (found.present, *found.measures)


def _solved(found: PricedEvent | None) -> tuple[Estimate, ...]:
    if found is None:
        return ()
    method = found.price.solution.method
    values = {PRESENT: found.present, **found.price.measures}
    bounds = {PRESENT: found.bound, **found.bounds}
    return tuple(
        Estimate(name, "exact", value, method, bound=None if isinstance(value, Fraction) else bounds.get(name))
        for name, value in values.items()
    )


def exact_remark(found: PricedEvent) -> str:
    """How the chain was solved, and how far the price may be off."""
    how = f"{len(found.price.solution.probabilities)} states, {found.price.solution.method}"
    if isinstance(found.present, Fraction):
        return how
    return f"{how}; " + ("no bound on the error" if found.bound is None else f"error at most {found.bound:.1e}")


def simulated_remark(found: TwinPrice) -> str:
    """How the pairs were made."""
    return (
        f"{found.pairs} pairs of runs, seed {found.seed}, that differ in passage {found.passage} of the event and are "
        f"followed for {double(found.followed):.4g}"
    )
