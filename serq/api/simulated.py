"""The answer of a simulation."""

from dataclasses import dataclass, field

from serq.api.tabular import Answers, estimates_table
from serq.base.errors import UsageError
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate
from serq.semantics.report import RunReport
from serq.semantics.run_result import RunResult


@dataclass(frozen=True)
class SimulateResult(Answers):
    """A simulated program: the report, and the replications that it was made of."""

    program: Program
    report: RunReport
    replications: tuple[RunResult, ...] = field(repr=False, compare=False)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Every measure with its confidence interval."""
        return self.report.estimates

    def observations(self, name: str) -> list[dict[str, float]]:
        """What was observed under that name, in the order of time: replication, time, session, turn and value.

        UsageError unless the run was asked to keep its samples, and for a name that nothing observes.
        """
        out = []
        for result in self.replications:
            if name not in result.samples:
                kept = ", ".join(result.samples)
                raise UsageError(
                    f"no samples of {name!r}: " + (f"kept are {kept}" if kept else "use keep_samples=True")
                )
            s = result.samples[name]
            for time, session, turn, value in zip(s.times, s.sessions, s.turns, s.values, strict=True):
                row = {"time": time, "session": session, "turn": turn, "value": value}
                out.append({"replication": float(result.replication)} | row)
        return out

    def to_dict(self) -> dict[str, object]:
        """What `serq run --json` prints."""
        return provenance(self.program, "run") | self.report.to_dict()

    def _repr_html_(self) -> str:
        r = self.report
        span = f"time {r.options.warmup:g} to {r.options.horizon:g}, seed {r.options.seed}, {r.events} events"
        caption = f"{self.program.name}: simulated, {span}; {r.confidence:.0%} intervals"
        return estimates_table(caption, self.estimates)
