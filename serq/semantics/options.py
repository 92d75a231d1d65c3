"""What a run of a program needs to know beside the program."""

import math
from dataclasses import dataclass, field

from serq.base.errors import UsageError
from serq.ir import program as p
from serq.semantics.limits import Limits

DEFAULT_SEED = 1
BATCHES = 32


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The settings of a run.

    `horizon` and `warmup` are times of the program; averages are over [warmup, horizon], cut into `batches`.
    `keep_samples` keeps time, session and turn of every observation (for dumps), not only its value. `trace` replaces
    the program's trace file. `checked` asserts the invariants of the machine after every transition. `limits` stop a
    program that cannot go on; `events` (a number) and `memory` (bytes) stop one that is too large. `changed`: at
    which passage, from 1, the branch that is an event goes the other way; 0 for none.
    """

    seed: int
    horizon: float
    warmup: float = 0.0
    batches: int = BATCHES
    keep_samples: bool = False
    trace: str | None = None
    checked: bool = False
    limits: Limits = field(default_factory=Limits)
    events: int | None = None
    memory: int | None = None
    changed: int = 0

    def __post_init__(self) -> None:
        if not (self.horizon > 0 and math.isfinite(self.horizon)):
            raise UsageError(f"the horizon must be positive and finite, not {self.horizon:g}")
        if not 0 <= self.warmup < self.horizon:
            raise UsageError(f"the warm-up of {self.warmup:g} must lie between 0 and the horizon, {self.horizon:g}")
        if self.batches < 1:
            raise UsageError(f"at least one batch is needed, not {self.batches}")
        if not (self.horizon - self.warmup) / self.batches > 0:
            raise UsageError(f"a run until {self.horizon:g} is too short to be divided into {self.batches} batches")


def options_of(
    program: p.Program, seed: int | None = None, horizon: float | None = None, warmup: float | None = None
) -> RunOptions:
    """The program's `run` block, with what is given here instead. Change the rest with `dataclasses.replace`.

    Raises `UsageError` when there is no horizon, or when one of the values makes no sense.
    """
    run = program.run
    if horizon is None and run.horizon is None:
        raise UsageError("there is no horizon: write `run { horizon ...; }` in the program or give --horizon")
    return RunOptions(
        seed=_seed(run.seed) if seed is None else seed,
        horizon=_value(run.horizon) if horizon is None else float(horizon),
        warmup=_value(run.warmup) if warmup is None else float(warmup),
    )


def _value(folded: p.Folded | None) -> float:
    return 0.0 if folded is None else folded.value


def _seed(folded: p.Folded | None) -> int:
    return DEFAULT_SEED if folded is None else p.whole(folded)
