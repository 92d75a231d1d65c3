"""The answer of a simulation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from serq.api.keywords import names_from, number_from
from serq.api.tabular import Answers, estimates_table
from serq.base.errors import UsageError
from serq.ir.numbers import as_given
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate
from serq.semantics.report import RunReport
from serq.semantics.run_result import RunResult

if TYPE_CHECKING:
    from serq.studies.precision import Reached, Until


@dataclass(frozen=True, repr=False)
class SimulateResult(Answers):
    """A simulated program: the report, and the replications that it was made of.

    `reached`: how precise it is, where it was to run until it is precise.
    """

    program: Program
    report: RunReport
    replications: tuple[RunResult, ...] = field(repr=False, compare=False)
    reached: "Reached | None" = None

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
        reached = self.reached
        precise = {} if reached is None else {"until": asdict(reached) | {"enough": reached.enough}}
        return provenance(self.program, "run") | self.report.to_dict() | precise

    def _repr_html_(self) -> str:
        r = self.report
        time = f"time {as_given(r.options.warmup)} to {as_given(r.options.horizon)}"
        span = f"{time}, seed {r.options.seed}, {r.events} events"
        caption = f"{self.program.name}: simulated, {span}; {r.confidence:.0%} intervals"
        return estimates_table(caption, self.estimates)


def precision_from(given: Mapping[str, Any]) -> "tuple[Until | None, dict[str, Any]]":
    """What is to be reached, None where nothing is, and the other options. UsageError where that makes no sense."""
    from serq.api.checked import share
    from serq.studies.precision import MOST, Until

    rest = dict(given)
    until, watch = rest.pop("until", None), names_from("watch", rest.pop("watch", ()))
    longer, most = bool(rest.pop("longer", False)), number_from("most_work", rest.pop("most_work", MOST))
    if until is None:
        if watch or longer:
            raise UsageError("watch and longer say how until goes about it: give until")
        return None, rest
    relative = share(until if isinstance(until, str) else str(number_from("until", until)), "until")
    if most is None or most < 1:
        raise UsageError(f"most_work must be at least 1, not {most}")
    assert relative is not None
    return Until(relative, watch, longer, most), rest
