"""Laplace transforms of works: E[exp(-s work)], a rational where the law is phase-type with rational parameters."""

import math
from fractions import Fraction

from serq.closedforms.amounts import Work
from serq.ir import laws
from serq.ir.expr import Number


def transform(work: Work, s: Number) -> Number | None:
    """The transform of the law of a work at s; None for a law that has none here."""
    out: Number = Fraction(1) if work.fixed == 0 else math.exp(-float(s * work.fixed))
    for law, factor in work.draws:
        value = _law(law, s * factor)
        if value is None:
            return None
        out = out * value
    return out


def _law(law: laws.Law, s: Number) -> Number | None:
    """The transform of a draw."""
    match law.name:
        case "exp":
            return 1 / (1 + law.args[0] * s)
        case "erlang":
            phases = int(law.args[0])
            return (1 / (1 + law.args[1] / phases * s)) ** phases
        case "h2":
            return _mixture(law, s)
        case "uniform":
            low, high = (float(x) for x in law.args)
            return (math.exp(-float(s) * low) - math.exp(-float(s) * high)) / (float(s) * (high - low))
        case "geometric":
            p, decay = float(law.args[0]), math.exp(-float(s))
            return p * decay / (1 - (1 - p) * decay)
        case _:
            return None


def _mixture(law: laws.Law, s: Number) -> Number | None:
    form = laws.phase_type(law)
    if form is None:
        return None
    return sum((p * rate / (rate + s) for p, rate in zip(form.start, form.rates, strict=True)), Fraction(0))
