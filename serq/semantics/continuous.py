"""Questions that only a chain in continuous time can answer."""

from serq.base.errors import LimitError
from serq.ir.chain import Chain

NO_LAWS = (
    "the law of an observed time is known for chains in continuous time only; this one runs in slots or is semi-Markov"
)
"""Why a program with clocks has no second moments and quantiles of what it observes."""


def in_continuous_time(chain: Chain, what: str) -> None:
    """LimitError, which says that `what` is about continuous time, when the chain is of a program with clocks."""
    if chain.embedded is not None:
        raise LimitError(
            f"{what} to a chain in continuous time; this program runs in slots or is semi-Markov, and only its "
            "long-run averages are known"
        )
