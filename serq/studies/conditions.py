"""Whether a solved program switches rarely between two conditions, seen by the sessions that are away from delays."""

from collections.abc import Mapping

from serq.base.errors import LimitError
from serq.ir.expr import Number
from serq.ir.measures import condition_measures
from serq.ir.numbers import short
from serq.ir.program import Delay, Program
from serq.ir.results import Estimate
from serq.pipeline import Solved
from serq.semantics.continuous import in_continuous_time
from serq.semantics.generator import merged_rates, restrict
from serq.semantics.metastability import Metastability, metastability
from serq.semantics.steady import recurrent_class

METHOD = "eigenvalues next to 0, mean first passages"


def conditions(program: Program, solved: Solved) -> Metastability:
    """The verdict on the recurrent class. LimitError for a chain of another kind, or without its eigenvalues."""
    chain = solved.chain
    in_continuous_time(chain, "metastability is a question")
    if solved.tail is not None:
        raise LimitError("metastability is a question to a finite chain; give the open program a --limit")
    states = recurrent_class(chain, program.source)
    delays = [chain.state_rewards[f"stage.{s.name}.number"] for s in program.stages if isinstance(s.kind, Delay)]
    present = chain.state_rewards["sessions.number"]
    number = [int(present[i] - sum(delay[i] for delay in delays)) for i in states]
    rows = restrict(merged_rates(chain), states)
    return metastability(rows, [solved.solution.probabilities[i] for i in states], number)


def conditions_data(found: Metastability) -> dict[str, object]:
    """The verdict and what it rests on as strict JSON data."""
    return {
        "verdict": found.verdict,
        "rates": list(found.rates),
        "rate_bounds": list(found.bounds),
        "proved": found.proved,
        "relaxation": found.relaxation,
        "relaxation_bound": found.relaxation_bound,
        "gap": found.gap,
        "gap_bound": found.gap_bound,
        "basins": list(found.basins),
        "modes": list(found.modes),
        "switching": None if found.switching is None else list(found.switching),
        "marginal": list(found.marginal),
    }


def condition_estimates(found: Metastability) -> tuple[Estimate, ...]:
    """The same as answers about measures, for tables and pictures; the verdict is the reason of the first."""
    up, down = (None, None) if found.switching is None else found.switching
    values: Mapping[str, Number | None] = {
        "conditions": 2.0 if found.verdict == "bistable" else 1.0,
        "slowest": found.rates[0] if found.rates else None,
        "next": found.rates[1] if len(found.rates) > 1 else None,
        "gap": found.gap,
        "fewer": found.basins[0],
        "more": found.basins[1],
        "modes": float(len(found.modes)),
        "up": up,
        "down": down,
    }
    reasons = {"conditions": found.verdict, "modes": f"modes {', '.join(map(str, found.modes))}"}
    bounds: dict[str, float | None] = {"gap": found.gap_bound}
    bounds |= dict(zip(("slowest", "next"), found.bounds, strict=False))
    if not found.proved:
        reasons |= {name: f"estimated to be off by {short(bound, 2)} at most" for name, bound in bounds.items()}
        bounds = {}
    known = ((m.statistic, m.name, values[m.statistic]) for m in condition_measures())
    return tuple(
        Estimate(name, "exact", value, METHOD, reason=reasons.get(statistic, ""), bound=bounds.get(statistic))
        for statistic, name, value in known
        if value is not None
    )
