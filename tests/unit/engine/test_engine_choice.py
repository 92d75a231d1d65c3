"""Which engine runs, what it says about it, and that a run can be stopped."""

from dataclasses import replace

import pytest
from command_line import serq

from serq.base.errors import LimitError, UsageError
from serq.engines import run_compiled, run_replications, why_not_compiled
from serq.ir.measures import QUANTILES
from serq.pipeline import SimulateOptions, load_text, run_options, simulate

QUEUE = """stage s : fifo; workload { arrive poisson(0.5); }
session { set t = now; run s (~exp(1)); observe r = now - t; }
run { horizon 2000; seed 4; }"""
FUNCTION = """stage s : fifo; workload { arrive poisson(0.5); }
session { set x = ~exp(1); run s (exp(-x)); }
run { horizon 200; seed 4; }"""


def settings(text, **changes):
    program = load_text(text).program
    return program, replace(run_options(program, SimulateOptions()), **changes)


def test_auto_compiles_what_it_can():
    program, options = settings(QUEUE)
    assert why_not_compiled(program, options) == ""
    assert simulate(program)[0].engine == "compiled"
    report = simulate(load_text(FUNCTION).program)[0]
    assert (report.engine, report.why_reference) == ("reference", "it computes exp while it runs")
    assert report.to_dict()["why_reference"] == "it computes exp while it runs"


def test_checked_runs_are_the_reference_s():
    program, options = settings(QUEUE, checked=True)
    assert run_replications(program, options, 1).engine == "reference"


def test_compiled_is_refused_where_it_cannot_be():
    program, options = settings(FUNCTION)
    with pytest.raises(UsageError, match="it computes exp while it runs"):
        run_replications(program, options, 1, engine="compiled")


def test_both_engines_report_the_same():
    program = load_text(QUEUE.replace("2000", "20000")).program
    ours, theirs = (simulate(program, SimulateOptions(engine=e))[0] for e in ("compiled", "reference"))
    quantiles = [f"observe.r.{name}" for name in QUANTILES]
    assert [e.measure for e in ours.estimates if e not in theirs.estimates] == quantiles
    for name in quantiles:
        sketched, exact = ours.estimate(name), theirs.estimate(name)
        assert sketched.value == pytest.approx(exact.value, rel=5e-4)
        assert sketched.half_width == pytest.approx(exact.half_width, rel=0.25)
        assert (sketched.degrees, sketched.method) == (exact.degrees, exact.method)
    assert ours.stages == theirs.stages
    assert (ours.events, ours.stability) == (theirs.events, theirs.stability)
    assert "histogram" in ours.method
    assert "histogram" not in theirs.method
    summary, exact = ours.observes[0].summary, theirs.observes[0].summary
    assert summary.p99 == pytest.approx(exact.p99, rel=5e-4)
    assert summary.variance == pytest.approx(exact.variance, rel=1e-10)


def test_limits_on_events_stop_both_alike():
    program, options = settings(QUEUE, events=500)
    said = []
    for engine in ("compiled", "reference"):
        with pytest.raises(LimitError) as caught:
            run_replications(program, options, 1, engine=engine)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_a_limit_on_memory_stops_an_overloaded_queue():
    program, options = settings(QUEUE.replace("0.5", "50").replace("2000", "1e7"), memory=1)
    with pytest.raises(LimitError, match="MiB of memory"):
        run_replications(program, options, 1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_progress_raises_stops_the_run(jobs):
    def interrupt(part: float) -> None:
        raise KeyboardInterrupt

    program, options = settings(QUEUE.replace("2000", "1e9"))
    with pytest.raises(KeyboardInterrupt):
        run_compiled(program, options, 2, jobs, interrupt)


def test_the_command_line_says_why(tmp_path, capsys):
    function, queue = tmp_path / "function.sq", tmp_path / "queue.sq"
    function.write_text(FUNCTION)
    queue.write_text(QUEUE)
    told = serq(capsys, "run", function)
    assert told.status == 0
    assert "simulated by the reference interpreter: it computes exp while it runs" in told.err
    assert "reference interpreter" not in serq(capsys, "run", function, "--quiet").err
    plain = serq(capsys, "run", queue)
    assert "engine: compiled" in plain.out
    assert plain.err == ""
    assert serq(capsys, "run", function, "--engine", "compiled").status == 2
