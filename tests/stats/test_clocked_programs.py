"""Generated programs with step stages: every measure and law of their chains against runs.

Each table is tested at a family-wise false-alarm rate of 1e-5, so that any of the programs below fails by chance with
probability below 2e-4; seeds are fixed. `python tests/stats/many_clocks.py FIRST COUNT HORIZON` does more of them.
"""

import pytest
from clocked_programs import clocked_program

from serq.compare.three_way import CheckOptions, three_way
from serq.pipeline import SimulateOptions, load_text

SEEDS = [1, 2, 3, 5, 9, 15, 16, 17, 22, 25, 27]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_generated_program(seed: int) -> None:
    simulation = SimulateOptions(horizon=1200.0, warmup=50.0, replications=1, seed=seed, engine="reference")
    table = three_way(load_text(clocked_program(seed)).program, CheckOptions(simulation, false_alarm=1e-5))
    assert table.chain
    assert [(row.measure.name, row.why) for row in table.agreement.rows if row.verdict == "disagrees"] == []
    assert table.agreement.compared >= 8
