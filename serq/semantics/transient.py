"""A chain at one time, from any distribution at time 0: uniformisation, with a bound on the error.

p(t) = sum over k of Pois(k; L t) p(0) P^k with P = I + Q / L and L the largest rate of leaving (A. Jensen, Skand.
Aktuarietidskr. 36 (1953); W. J. Stewart, Introduction to the Numerical Solution of Markov Chains (1994), section 8.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from serq.base.errors import UsageError
from serq.ir.chain import Chain, Ratio, Unmapped
from serq.ir.expr import Number, double
from serq.ir.results import Estimate
from serq.semantics.generator import Rows, sparse_rates
from serq.semantics.uniformisation import poisson_weights

Vector = NDArray[np.float64]
_UNIT = 2.0**-53
_LONG_RUN = "a mean time comes from Little's law, which holds in the long run only"


@dataclass(frozen=True, slots=True)
class At:
    """The chain at a time: probabilities, and a bound on the sum of their errors."""

    time: float
    probabilities: Vector
    bound: float


def at_time(rows: Rows, start: Sequence[Number], time: float) -> At:
    """The distribution after `time` from `start`. LimitError where that takes too many steps."""
    if not 0 <= time < float("inf"):
        raise UsageError(f"a time is a number, 0 or more, not {time:g}")
    rates = sparse_rates(rows)
    exits = np.asarray(rates.sum(axis=1)).ravel()
    speed = float(exits.max(initial=0.0))
    row = np.array([double(p) for p in start])
    if speed == 0.0 or time == 0.0:
        return At(time, row, 0.0)
    weights = poisson_weights(speed * time)
    step = sparse.csr_matrix((rates / speed + sparse.diags(1.0 - exits / speed)).T)
    out = np.zeros(len(row))
    for k in range(weights.first + len(weights.values)):
        if k >= weights.first:
            out += weights.values[k - weights.first] * row
        row = step @ row
    last = weights.first + len(weights.values)
    rounding = (last * (int(np.diff(step.indptr).max(initial=0)) + 2) + len(weights.values) + 40) * _UNIT
    return At(time, out, weights.tail + rounding)


def values_at(chain: Chain, found: At, method: str = "uniformisation") -> tuple[Estimate, ...]:
    """The measures at a time: means over the states there, and rates of what happens then, in the order of the chain.

    A mean per event is the ratio of two such rates; it has no value while the event cannot happen. Mean times have none
    at all: Little's law, which gives them, is about the long run.
    """
    ratios = [r for r in chain.ratios if isinstance(r, Ratio)]
    names = sorted({name for r in ratios for name in (*(n for _, n in r.terms), *((r.per,) if r.per else ()))})
    rewards = {name: np.array([float(x) for x in vector]) for name, vector in chain.reward_table(names).items()}
    return tuple(
        Estimate(ratio.measure, "exact", None, method, reason=_LONG_RUN)
        if isinstance(ratio, Ratio) and ratio.per and any(name in chain.state_rewards for _, name in ratio.terms)
        else _value(ratio, found, rewards, method)
        for ratio in chain.ratios
    )


def _value(ratio: Ratio | Unmapped, found: At, rewards: Mapping[str, Vector], method: str) -> Estimate:
    if isinstance(ratio, Unmapped):
        return Estimate(ratio.measure, "exact", None, method, reason=ratio.reason)
    vector = sum((float(weight) * rewards[name] for weight, name in ratio.terms), np.zeros(len(found.probabilities)))
    value = float(found.probabilities @ vector)
    bound = found.bound * float(np.abs(vector).max(initial=0.0)) + abs(value) * len(vector) * _UNIT
    if ratio.per is None:
        return Estimate(ratio.measure, "exact", value, method, bound=bound)
    below = float(found.probabilities @ rewards[ratio.per])
    doubt = found.bound * float(rewards[ratio.per].max(initial=0.0)) + below * len(vector) * _UNIT
    if below <= doubt:
        reason = f"the event '{ratio.per}' cannot happen then, or hardly"
        return Estimate(ratio.measure, "exact", None, method, reason=reason)
    quotient = value / below
    return Estimate(ratio.measure, "exact", quotient, method, bound=(bound + abs(quotient) * doubt) / (below - doubt))
