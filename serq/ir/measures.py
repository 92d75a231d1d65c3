"""What may be asked of a program: one list of measures, with one set of names, for every witness.

A measure is named `kind.subject.statistic`. The simulator, the chain and the closed forms answer under these names, so
that a comparison is a join. All are long-run averages: per unit of time, or per event.
"""

from dataclasses import dataclass
from typing import Literal

from serq.ir import program as p

Kind = Literal["stage", "pool", "gauge", "observe", "sessions"]

STAGE_STATISTICS: dict[str, tuple[str, str]] = {
    "number": ("mean number of jobs present", ""),
    "waiting": ("mean number of jobs waiting", ""),
    "busy": ("mean number of jobs in service", ""),
    "utilisation": ("busy servers / servers (fifo); fraction of time non-empty otherwise", ""),
    "throughput": ("completed jobs per unit of time", "1/time"),
    "wait": ("mean time between joining and the start of service", "time"),
    "sojourn": ("mean time between joining and completion", "time"),
}
FIFO_ONLY = ("waiting", "busy", "wait")
POOL_STATISTICS: dict[str, tuple[str, str]] = {
    "used": ("mean allocated units", "units"),
    "cached": ("mean cached units", "units"),
    "queue": ("mean number of waiting holds", ""),
    "holders": ("mean number of holds", ""),
    "queue_wait": ("mean wait of a hold admitted from its queue", "time"),
    "admissions": ("holds admitted from its queue per unit of time", "1/time"),
    "evictions": ("evicted entries per unit of time", "1/time"),
    "evicted_units": ("evicted units per unit of time", "units/time"),
    "preemptions": ("preemptions per unit of time", "1/time"),
    "rejections": ("rejected holds per unit of time", "1/time"),
}
SESSION_STATISTICS: dict[str, tuple[str, str]] = {
    "number": ("mean number of live sessions", ""),
    "throughput": ("ended sessions per unit of time", "1/time"),
    "losses": ("lost arrivals per unit of time", "1/time"),
}


QUANTILES: dict[str, float] = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
"""Quantiles of observed values by name, with their levels."""
DISTRIBUTION_STATISTICS: dict[str, tuple[str, str]] = {
    "second": ("second moment of the observed values (not the variance)", ""),
    **{
        name: (f"the value that {level:.0%} of the observed values do not exceed", "")
        for name, level in QUANTILES.items()
    },
}
"""What the law of an observed time adds to its mean."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that can be asked; `meaning` and `unit` are for people. `prefix` is `price` where it is about what a
    change adds to the measure, and `metastability` where it is about the conditions of a chain.
    """

    kind: Kind
    subject: str
    statistic: str
    meaning: str
    unit: str = ""
    prefix: str = ""

    @property
    def name(self) -> str:
        """`stage.svc.number`, `observe.response.mean`, `sessions.throughput`, `price.stage.svc.number`."""
        return ".".join(part for part in (self.prefix, self.kind, self.subject, self.statistic) if part)


CONDITION_STATISTICS: dict[str, tuple[str, str]] = {
    "conditions": ("conditions between which the chain rarely switches: 2, or 1 for no such thing", ""),
    "slowest": ("rate at which the slowest difference dies out, the eigenvalue of -Q next to 0", "1/time"),
    "next": ("rate at which the second slowest difference dies out", "1/time"),
    "gap": ("how much faster the second slowest difference dies out", ""),
    "fewer": ("probability of the condition with fewer sessions away from delays", ""),
    "more": ("probability of the condition with more sessions away from delays", ""),
    "modes": ("modes of the number of sessions away from delays", ""),
    "up": ("mean time from the lowest mode to the highest", "time"),
    "down": ("mean time from the highest mode to the lowest", "time"),
}
"""What a study says of the conditions of a chain; the chain alone answers."""


def condition_measures() -> tuple[Measure, ...]:
    """The measures `metastability.sessions.conditions`, `metastability.sessions.gap` and so on."""
    return tuple(Measure("sessions", "", s, m, u, "metastability") for s, (m, u) in CONDITION_STATISTICS.items())


def measures_of(program: p.Program) -> tuple[Measure, ...]:
    """Every measure of the program, in the order of a report: observes, stages, pools, gauges, sessions."""
    out = []
    for name in program.observes:
        out.append(Measure("observe", name, "mean", f"mean of observe {name}"))
        out.append(Measure("observe", name, "rate", f"observations of {name} per unit of time", "1/time"))
    for stage in program.stages:
        statistics = STAGE_STATISTICS if isinstance(stage.kind, p.Fifo) else _without_waiting()
        out += [Measure("stage", stage.name, s, m, u) for s, (m, u) in statistics.items()]
    for pool in program.pools:
        out += [Measure("pool", pool.name, s, m, u) for s, (m, u) in POOL_STATISTICS.items()]
    out += [Measure("gauge", gauge.name, "mean", f"time average of {gauge.name}") for gauge in program.gauges]
    out += [Measure("sessions", "", s, m, u) for s, (m, u) in SESSION_STATISTICS.items()]
    return tuple(out)


def distribution_measures_of(program: p.Program) -> tuple[Measure, ...]:
    """What may be asked of the law of every observe beyond `measures_of`; a witness answers what it can."""
    return tuple(
        Measure("observe", name, s, m, u) for name in program.observes for s, (m, u) in DISTRIBUTION_STATISTICS.items()
    )


def comparable_measures_of(program: p.Program) -> tuple[Measure, ...]:
    """What simulation and chain may both answer: `measures_of`, and the quantiles of every observe behind its rate."""
    out = []
    for measure in measures_of(program):
        out.append(measure)
        if measure.kind == "observe" and measure.statistic == "rate":
            more = (m for m in distribution_measures_of(program) if m.subject == measure.subject)
            out += [m for m in more if m.statistic in QUANTILES]
    return tuple(out)


def _without_waiting() -> dict[str, tuple[str, str]]:
    return {s: x for s, x in STAGE_STATISTICS.items() if s not in FIFO_ONLY}
