"""The warm-up by MSER-5."""

import json

import numpy as np
import pytest
from command_line import serq
from running import program_of

from serq.pipeline import SimulateOptions, simulate
from serq.running import automatic_warmup
from serq.semantics.options import options_of
from serq.semantics.warmup import Warmup, mser

OPEN = """stage svc : fifo; workload {{ arrive poisson({rate}); }}
session {{ set t0 = now; run svc (~exp(1)); observe w = now - t0; }} run {{ horizon {horizon}; warmup 10; seed 3; }}"""


def by_definition(values):
    """d minimises the variance of the rest over their number; of two the smaller d."""
    means = np.asarray(values).reshape(-1, 5).mean(1)
    errors = [np.var(means[d:]) / (len(means) - d) for d in range(len(means) - max(5, len(means) // 8) + 1)]
    return 5 * int(np.argmin(errors))


def test_the_cut_is_that_of_the_definition():
    rng = np.random.default_rng(5)
    for trial in range(40):
        values = rng.normal(size=200) + 8 * np.exp(-np.arange(200) / (1 + trial))
        assert mser(values) == by_definition(values)


def test_a_step_is_cut_off_where_it_ends():
    assert mser([9.0] * 30 + [0.0, 1.0] * 85) == 30
    assert mser([0.0] * 150 + [5.0, 6.0, 5.5, 6.5, 5.0] * 10) == 150
    assert mser([1.0] * 20) == 0


def test_replications_show_the_transient_of_a_busy_queue():
    """rho = 0.9 from an empty start, relaxation time 380: eight runs together see some of it, not half of the run."""
    program = program_of(OPEN.format(rate=0.9, horizon=20_000))
    found = automatic_warmup(program, options_of(program), 8)
    assert 100 < found.time < 10_000
    assert not found.short
    assert found.measure in ("stage.svc.number", "sessions.number")


def test_an_overloaded_queue_has_no_warm_up_that_is_long_enough():
    program = program_of(OPEN.format(rate=1.2, horizon=5000))
    found = automatic_warmup(program, options_of(program), 1)
    assert found == Warmup(2500.0, found.measure, True)
    assert "the cut hits half of the run" in found.text(5000.0)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_the_report_is_that_of_a_run_with_this_warm_up(engine):
    program = program_of(OPEN.format(rate=0.9, horizon=3000))
    report, _ = simulate(program, SimulateOptions(warmup="auto", replications=3, engine=engine))
    cut = report.options.warmup
    plain, _ = simulate(program, SimulateOptions(warmup=cut, replications=3, engine=engine))
    assert report.estimates == plain.estimates
    assert report.remarks[0].startswith(f"warm-up by MSER-5: {cut:g}, ")


def test_the_command_line_takes_auto_and_says_what_was_cut(tmp_path, capsys):
    program = tmp_path / "open.sq"
    program.write_text(OPEN.format(rate=0.5, horizon=3000))
    assert "warm-up by MSER-5: " in serq(capsys, "run", program, "--warmup", "auto").out
    assert serq(capsys, "run", program, "--warmup", "often").status == 2
    late = json.loads(serq(capsys, "run", program, "--warmup", "2500", "--json").out)
    assert late["remarks"] == ["the warm-up takes 83% of the run: only time 2500 to 3000 counts"]
    assert json.loads(serq(capsys, "run", program, "--json").out)["remarks"] == []
