"""The chain and the interpreter agree on every part of the language that a chain may use.

Two-sided tests at 5 standard errors, one run of 32 batches per program with a fixed seed. Over the 800 or so measures
compared a right program fails with probability below 2 % (Student t, 31 degrees of freedom); seeds are fixed, so
the outcome is too.
"""

import pytest
from chain_programs import PROGRAMS
from running import report
from timed_programs import PROGRAMS as TIMED

from serq.ir.expr import Number
from serq.pipeline import SolveOptions, load_text, solve

HORIZON, WARMUP = 4000.0, 100.0
WIDEST = 5.0
ROUNDING = 1e-9
STEADY = [name for name in PROGRAMS if name != "batch"]


@pytest.mark.parametrize("name", STEADY)
def test_every_measure(name: str) -> None:
    text = PROGRAMS[name]
    agrees(text, {e.measure: e.value for e in solve(load_text(text).program, SolveOptions(exact=True)).estimates})


@pytest.mark.parametrize("name", TIMED)
def test_programs_with_clocks(name: str) -> None:
    """Slots and semi-Markov programs: what happens within one instant must be in the order of a run."""
    agrees(TIMED[name], {e.measure: e.value for e in solve(load_text(TIMED[name]).program).estimates})


def agrees(text: str, exact: dict[str, Number | None]) -> None:
    result = report(text, horizon=HORIZON, warmup=WARMUP)
    compared = 0
    for measure, value in exact.items():
        simulated = result.estimate(measure)
        if value is None or simulated.value is None:
            continue
        compared += 1
        assert _agree(float(simulated.value), value, simulated.standard_error), (measure, simulated, float(value))
    assert compared >= len(exact) - 3


def _agree(simulated: float, exact: Number, error: float | None) -> bool:
    """Within the error where there is one; what never varies is right to rounding."""
    return abs(simulated - float(exact)) <= max(WIDEST * (error or 0.0), ROUNDING * max(1.0, abs(float(exact))))
