"""What a compiled run needs to know beside the program."""

from dataclasses import dataclass

LOG = 1 << 17
"""Observations that a run keeps before it hands them over."""


@dataclass(frozen=True, slots=True)
class Settings:
    """As in `serq.semantics.options.RunOptions`. `commands` and `replacements` are the limits at one instant,
    `preemptions` of those without progress; `first_commands` are as many more at time 0.

    `together`: step stages count together what can be counted together (see `serq.engine.steady`).
    `changed`: the passage at which the branch that is an event goes the other way, 0 for none.
    `log`: room for observations, smaller for runs that are short.
    `profile` keeps a coarse histogram of every observe by batch, for intervals of its quantiles.
    """

    seed: int
    horizon: float
    warmup: float
    batches: int
    keep_samples: bool
    commands: int = 1_000_000
    replacements: int = 10_000
    events: int | None = None
    preemptions: int = 10_000
    together: bool = True
    profile: bool = False
    first_commands: int = 0
    changed: int = 0
    log: int = LOG

    def ends(self) -> list[float]:
        """Where the warm-up and each batch end, as in `serq.semantics.statistics.Window`."""
        width = self.horizon - self.warmup
        return [self.warmup + width * (k / self.batches) for k in range(self.batches)] + [self.horizon]
