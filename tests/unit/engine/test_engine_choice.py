"""Which engine runs, what it says about it, and that a run can be stopped."""

import json
from dataclasses import replace

import pytest
from command_line import serq
from engines import assert_same

from serq.base.errors import LimitError, UsageError
from serq.engines import run_compiled, run_replications, why_not_compiled
from serq.ir.measures import QUANTILES
from serq.pipeline import SimulateOptions, load_text, run_options, simulate
from serq.semantics.memory import memory_in_use
from serq.semantics.report import PartialError
from serq.semantics.run_result import StoppedError

QUEUE = """stage s : fifo; workload { arrive poisson(0.5); }
session { set t = now; run s (~exp(1)); observe r = now - t; }
run { horizon 2000; seed 4; }"""
CROWD = """stage s : fifo; workload { arrive poisson(0.5) limit(1e19); }
session { run s (1); }
run { horizon 200; seed 4; }"""


def settings(text, **changes):
    program = load_text(text).program
    return program, replace(run_options(program, SimulateOptions()), **changes)


def test_auto_compiles_what_it_can():
    program, options = settings(QUEUE)
    assert why_not_compiled(program, options) == ""
    assert simulate(program)[0].engine == "compiled"
    report = simulate(load_text(CROWD).program)[0]
    assert (report.engine, report.why_reference) == ("reference", "its limit is no machine integer")
    assert report.to_dict()["why_reference"] == "its limit is no machine integer"


def test_checked_runs_are_the_reference_s():
    program, options = settings(QUEUE, checked=True)
    assert run_replications(program, options, 1).engine == "reference"


def test_compiled_is_refused_where_it_cannot_be():
    program, options = settings(CROWD)
    with pytest.raises(UsageError, match="its limit is no machine integer"):
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
    said, cut = [], []
    for engine in ("compiled", "reference"):
        with pytest.raises(StoppedError) as caught:
            run_replications(program, options, 1, engine=engine)
        said.append(str(caught.value))
        cut.append(caught.value.result)
    assert said[0] == said[1]
    assert_same(*cut)
    assert sum(cut[0].counts.widths) < 2000
    assert sum(n for _, n in cut[0].counts.observes["r"]) > 200


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_run_that_was_stopped_reports_what_it_learned(engine):
    program = load_text(QUEUE.replace("0.5", "2")).program
    with pytest.raises(PartialError) as caught:
        simulate(program, SimulateOptions(horizon=1e5, warmup=10, events=60_000, replications=2, engine=engine))
    report = caught.value.report
    assert (report.stability.kind, report.engine, report.replications) == ("growing", engine, 1)
    assert report.stopped.startswith("the run was stopped at 60000 events: time 19977.5 of 100000")
    assert report.estimate("stage.s.throughput").value == pytest.approx(1, abs=0.05)
    assert 0 < report.estimate("stage.s.throughput").half_width < 0.1
    assert report.options.horizon == pytest.approx(20_000, rel=0.05)
    assert report.to_dict()["stopped"] == report.stopped


def test_within_the_warm_up_nothing_is_learned():
    with pytest.raises(StoppedError) as caught:
        simulate(load_text(QUEUE).program, SimulateOptions(warmup=1900, events=500))
    assert caught.value.result is None


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


def test_an_overloaded_queue_ends_at_a_limit_with_a_verdict(tmp_path, capsys):
    queue = tmp_path / "queue.sq"
    queue.write_text(QUEUE.replace("0.5", "50").replace("2000", "1e9"))
    assert serq(capsys, "run", queue, "--max-memory", "1").status == 4
    some = (memory_in_use() >> 20) + 48
    done = serq(capsys, "run", queue, "--max-memory", some, "--json")
    assert done.status == 4
    assert json.loads(done.out)["stability"]["kind"] == "growing"
    assert "MiB of memory" in json.loads(done.out)["stopped"]
    assert "serq: error: the run was stopped at" in done.err
    text = serq(capsys, "run", queue, "--max-events", "100000")
    assert text.status == 4
    assert "stopped early: the run was stopped at 100000 events" in text.out
    assert "growing: no steady state" in text.out
    cold = serq(capsys, "run", queue, "--max-events", "100", "--warmup", "1e8")
    assert (cold.status, cold.out) == (4, "")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_run_that_got_stuck_has_failed(tmp_path, capsys, form):
    program = tmp_path / "stuck.sq"
    program.write_text(
        "pool m { cap 1; preempt none; } stage d : delay; workload { arrive batch(3); }\n"
        "session { hold m (1) { run d (1); hold m (1) { run d (1); } } } run { horizon 100; }"
    )
    done = serq(capsys, "run", program, "--quiet", *form)
    assert done.status == 5
    assert "stuck" in done.out
    assert done.err.startswith("serq: error: nothing can happen any more: session 0 waits for pool m at line 2")


def test_the_command_line_says_why(tmp_path, capsys):
    function, queue = tmp_path / "function.sq", tmp_path / "queue.sq"
    function.write_text(CROWD)
    queue.write_text(QUEUE)
    told = serq(capsys, "run", function)
    assert told.status == 0
    assert "simulated by the reference interpreter: its limit is no machine integer" in told.err
    assert "reference interpreter" not in serq(capsys, "run", function, "--quiet").err
    plain = serq(capsys, "run", queue)
    assert "engine: compiled" in plain.out
    assert plain.err == ""
    assert serq(capsys, "run", function, "--engine", "compiled").status == 2
