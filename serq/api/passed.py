"""A program before its steady state, as an answer: measures at a time, and first passages."""

from dataclasses import dataclass

from serq.api.tabular import Answers, estimates_table
from serq.ir.expr import Number
from serq.ir.numbers import as_given, as_json, estimate_json, rational, short
from serq.ir.program import Program
from serq.ir.provenance import provenance
from serq.ir.results import Estimate
from serq.studies.passing import Passing


@dataclass(frozen=True, repr=False)
class TransientResult(Answers):
    """The measures at a time, and when the chain first comes to some states, by what was asked."""

    program: Program
    passing: Passing

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """The measures at the time; none where no time was asked for."""
        return self.passing.estimates

    @property
    def mean_time(self) -> Number | None:
        """The mean time until the states asked for are first entered, a `Fraction` where it is exact; None where they
        may never be.
        """
        return self.passing.mean_time

    @property
    def ever(self) -> Number | None:
        """The probability that they are entered at all."""
        return self.passing.ever

    @property
    def chance(self) -> float | None:
        """The probability that they are entered by the time."""
        return self.passing.chance

    def to_dict(self) -> dict[str, object]:
        """What `serq solve --transient` and `--until` print with `--json`."""
        found, mean = self.passing, self.passing.mean_time
        return provenance(self.program, "transient", "numpy", "scipy", "python-flint") | {
            "states": found.chain.size,
            "initial": found.initial,
            "time": found.time,
            "measures": {e.measure: estimate_json(e) for e in found.estimates},
            "until": found.until,
            "mean_time": None
            if mean is None
            else {"value": as_json(mean)} | ({"exact": str(mean)} if rational(mean) else {}),
            "ever": None
            if found.ever is None
            else {"value": as_json(found.ever)} | ({"exact": str(found.ever)} if rational(found.ever) else {}),
            "chance": None if found.chance is None else {"value": found.chance, "bound": as_json(found.chance_bound)},
        }

    def _repr_html_(self) -> str:
        found = self.passing
        parts = [f"{self.program.name}: {found.chain.size} states"]
        parts += [] if found.time is None else [f"at time {as_given(found.time)}"]
        parts += [] if found.mean_time is None else [f"mean time until {found.until}: {short(found.mean_time, 10)}"]
        parts += [] if found.chance is None else [f"by then with probability {short(found.chance, 10)}"]
        return estimates_table("; ".join(parts), self.estimates)
