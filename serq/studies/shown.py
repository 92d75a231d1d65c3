"""Which measures a person is shown when nobody asks for any, and their units."""

from dataclasses import replace

from serq.ir import program as p
from serq.ir.flow import observes_of_time
from serq.ir.measures import Measure
from serq.studies.plan import Plan, selected

_MOST_OBSERVES = 3
_MOST_STAGES = 2


def shown(plan: Plan) -> tuple[Measure, ...]:
    """The measures asked for; else the means of what is observed, the 99 % quantile of the first interval observed, and
    number, utilisation and throughput where sessions share a stage; and the prices of the change and the verdicts on
    conditions, if they were asked for.
    """
    every = {m.name: with_unit(policy.base, m) for policy in plan.policies for m in plan.known(policy)}
    if plan.measures:
        return selected(every.values(), plan.measures)
    program = plan.policies[0].base
    timed = observes_of_time(program)
    names = [f"observe.{name}.mean" for name in program.observes[:_MOST_OBSERVES]]
    names += [f"observe.{name}.p99" for name in program.observes if name in timed][:1]
    shared = [s.name for s in program.stages if not isinstance(s.kind, p.Delay)][:_MOST_STAGES]
    names += [f"stage.{stage}.{statistic}" for stage in shared for statistic in ("number", "utilisation")]
    names += [f"stage.{stage}.throughput" for stage in shared[:1]]
    if plan.price is not None:
        names += [f"price.stage.{stage}.number" for stage in shared]
        names += [f"price.observe.{name}.mean" for name in program.observes[:_MOST_OBSERVES]]
    if plan.conditions:
        names += [f"metastability.sessions.{statistic}" for statistic in ("conditions", "gap", "slowest", "up", "down")]
    return tuple(every[name] for name in names)


def with_unit(program: p.Program, measure: Measure) -> Measure:
    """The measure, with `time` for a unit where an interval of time is observed."""
    if measure.kind == "observe" and measure.statistic != "rate" and measure.subject in observes_of_time(program):
        return replace(measure, unit="time^2" if measure.statistic == "second" else "time")
    return measure
