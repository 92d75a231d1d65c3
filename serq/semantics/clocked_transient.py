"""A program of clocks alone at one time: its chain is followed from instant to instant, with a bound on the error.

A state x lasts just w(x), a multiple of one unit. Who is in it at a time has entered it less than w(x) before.
"""

from collections import deque
from collections.abc import Collection, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from serq.base.errors import LimitError, UsageError
from serq.ir.chain import Chain
from serq.ir.expr import Number, double
from serq.semantics.transient import At

Vector = NDArray[np.float64]

MOST_INSTANTS = 1_000_000
"""Instants to which a chain is followed at most."""
_UNIT = 2.0**-53


def at_instant(chain: Chain, start: Sequence[Number], time: float, stopped: Collection[int] = ()) -> At:
    """The distribution at `time` of a chain with clocks and nothing exponential beside them; `start` says which states
    are entered at time 0. Nobody leaves a state that is `stopped`.

    At an instant at which clocks ring the chain is where they have led. LimitError where there are too many instants.
    """
    if not 0 <= time < float("inf"):
        raise UsageError(f"a time is a number, 0 or more, not {time:g}")
    assert chain.embedded is not None
    left = frozenset(t.source for t in chain.transitions) - frozenset(stopped)
    stays = [stay if i in left else None for i, stay in enumerate(chain.embedded.holding)]
    unit = _largest_unit([stay for stay in stays if stay is not None])
    instants = int(Fraction(time) // unit)
    if instants > MOST_INSTANTS:
        raise LimitError(f"{instants} instants {float(unit):.3g} apart are too many to follow")
    steps = np.array([1 if stay is None else int(stay / unit) for stay in stays], dtype=np.int64)
    matrix = _chances(chain, left)
    found = _followed(np.array([double(p) for p in start]), matrix, steps, instants)
    most = int(np.diff(matrix.indptr).max(initial=0))
    return At(time, found, (instants * (most + 4) + int(steps.max(initial=1)) + 4) * _UNIT)


def _largest_unit(stays: Sequence[Fraction]) -> Fraction:
    """The largest time of which all stays are multiples."""
    below = lcm(*(stay.denominator for stay in stays))
    return Fraction(gcd(*(int(stay * below) for stay in stays)) or 1, below)


def _chances(chain: Chain, left: frozenset[int]) -> Any:
    """The probabilities from state to state, turned: a state that nobody leaves leads to itself."""
    assert chain.embedded is not None
    held = chain.embedded.holding
    rows: dict[tuple[int, int], Fraction] = {(i, i): Fraction(1) for i in range(chain.size) if i not in left}
    for t in chain.transitions:
        if t.source in left:
            arc = t.target, t.source
            rows[arc] = rows.get(arc, Fraction(0)) + t.rate * held[t.source]
    places = np.array(list(rows)).reshape(-1, 2).T
    values = np.array([float(q) for q in rows.values()])
    return sparse.csr_matrix((values, (places[0], places[1])), shape=(chain.size, chain.size))


def _followed(start: Vector, matrix: Any, steps: NDArray[np.int64], instants: int) -> Vector:
    """Per state, how likely it is at the last of so many instants."""
    longest = int(steps.max(initial=1))
    groups = [(int(step), np.flatnonzero(steps == step)) for step in np.unique(steps)]
    parts = [(step, members, matrix[:, members]) for step, members in groups]
    coming: deque[Vector] = deque([start, *(np.zeros(len(start)) for _ in range(longest))])
    entered: deque[Vector] = deque(maxlen=longest)
    for _ in range(instants + 1):
        here = coming[0]
        entered.appendleft(here)
        for step, members, part in parts:
            coming[step] += part @ here[members]
        coming.popleft()
        coming.append(np.zeros(len(start)))
    out = np.zeros(len(start))
    for step, members in groups:
        out[members] = sum(row[members] for row in list(entered)[:step])
    return out
