"""Questions that only a chain in continuous time can answer."""

from serq.base.errors import LimitError
from serq.ir.chain import Chain

BESIDE_CLOCKS = (
    "the law of an observed time is known where time passes in exponential steps or in those of clocks, not in both; "
    "this program has exponential events beside its clocks"
)
"""Why a program has no second moments and quantiles of what it observes."""


def not_beside_clocks(chain: Chain, what: str) -> None:
    """LimitError, which says that `what` has no answer, when exponential events happen beside clocks."""
    if chain.embedded is not None and not chain.embedded.alone:
        raise LimitError(
            f"{what} to a chain in which time passes in exponential steps or in those of clocks, not in both; this "
            "program has exponential events beside its clocks, and only its long-run averages are known"
        )


def in_continuous_time(chain: Chain, what: str) -> None:
    """LimitError, which says that `what` is about continuous time, when the chain is of a program with clocks."""
    if chain.embedded is not None:
        raise LimitError(
            f"{what} to a chain in continuous time; this program runs in slots or is semi-Markov, and only its "
            "long-run averages are known"
        )
