"""A clock that is too coarse for what happens is remarked on, without a look at every event."""

import pytest

from serq.compare.three_way import CheckOptions, three_way
from serq.pipeline import SimulateOptions, load_text, simulate

TEXT = """let work = 1e-4; let gap = 1e12; let span = 1e15; let warm = 0;
stage svc : fifo;
stage rest : delay;
workload { arrive closed(1); }
session { loop { run rest (~exp(gap)); run svc (WORK); } }
run { horizon span; warmup warm; seed 1; }
"""


def remarks(amount: str, engine: str = "reference", **lets: str) -> tuple[str, ...]:
    program = load_text(TEXT.replace("WORK", amount), overrides=lets).program
    return simulate(program, SimulateOptions(engine=engine))[0].remarks


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("work", ["work", "~exp(work)", "~h2(work, 4) + 0"])
def test_work_that_is_lost_to_rounding(work: str, engine: str) -> None:
    (remark,) = remarks(work, engine, warm="5e14")
    assert remark == (
        "the clock is too coarse: near time 1e+15 it goes in steps of 0.125, and all of the stays at svc are lost, "
        "of work 0.0001"
    )


def test_stays_of_a_few_steps() -> None:
    (remark,) = remarks("work", work="3")
    assert "near time 1e+15 it goes in steps of 0.125, and the mean stay at svc is 3" in remark
    assert remarks("work", work="126") == ()


def test_a_clock_that_is_fine_enough() -> None:
    assert remarks("work", gap="1000", span="1e6") == ()


def test_no_work_at_all_is_not_lost() -> None:
    assert remarks("0", warm="5e14") == ()
    assert remarks("~choice(0: 1, 5: 0)", warm="5e14") == ()


def test_it_is_told_in_a_check_too() -> None:
    program = load_text(TEXT.replace("WORK", "~exp(work)")).program
    found = three_way(program, CheckOptions(SimulateOptions(replications=2)))
    assert "at svc" in found.remarks[0]
