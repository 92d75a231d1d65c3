"""Running on until intervals are narrow enough."""

import json

import pytest
from command_line import serq
from running import program_of

from serq.base.errors import UsageError
from serq.pipeline import SimulateOptions, simulate
from serq.studies.precision import FEWEST, Until, simulate_until

TEXT = """stage svc : fifo; stage think : delay; workload { arrive closed(3); }
session { loop { set t0 = now; run svc (~exp(1)); observe response = now - t0; run think (~exp(4)); } }
run { horizon 600; warmup 50; seed 2; }"""


def worst(report, *names):
    return max(report.estimate(name).half_width / report.estimate(name).value for name in names)


def test_replications_are_added_until_the_mean_is_precise_and_the_report_is_a_plain_one():
    program = program_of(TEXT)
    report, results, reached = simulate_until(program, SimulateOptions(), Until(0.02))
    assert reached.enough
    assert reached.measure == "observe.response.mean"
    assert reached.relative == worst(report, "observe.response.mean") <= 0.02
    assert len(results) == report.replications > FEWEST
    plain, _ = simulate(program, SimulateOptions(replications=report.replications))
    assert plain.estimates == report.estimates
    assert "a little less often" in report.remarks[-1]


def test_the_number_of_jobs_changes_nothing():
    program = program_of(TEXT)
    alone, together = (simulate_until(program, SimulateOptions(jobs=jobs), Until(0.05))[0] for jobs in (1, 2))
    assert alone.to_dict() == together.to_dict()


def test_a_longer_run_does_as_well():
    program = program_of(TEXT)
    names = ("stage.svc.number", "observe.response.p95")
    report, _, reached = simulate_until(program, SimulateOptions(), Until(0.05, names, longer=True))
    assert reached.enough
    assert (report.replications, report.options.warmup) == (1, 50)
    assert report.options.horizon > 600
    assert worst(report, *names) == reached.relative <= 0.05


def test_the_limit_ends_it_with_what_was_reached():
    report, results, reached = simulate_until(program_of(TEXT), SimulateOptions(), Until(1e-4, most=2))
    assert not reached.enough
    assert len(results) == 2 * FEWEST
    assert reached.relative > 0.005
    assert "at the limit of 2 times the work" in report.remarks[-1]


def test_what_has_no_interval_is_never_precise():
    text = TEXT.replace("observe response = now - t0;", "observe response = 0;")
    assert simulate_until(program_of(text), SimulateOptions(), Until(0.1))[2].enough
    never = Until(0.1, ("sessions.losses",), most=1)
    assert simulate_until(program_of(text), SimulateOptions(), never)[2].relative is None


def test_unknown_measures_are_refused():
    with pytest.raises(UsageError, match=r"no measure 'stage\.gpu\.number'"):
        simulate_until(program_of(TEXT), SimulateOptions(), Until(0.1, ("stage.gpu.number",)))
    silent = TEXT.replace("observe response = now - t0;", "")
    with pytest.raises(UsageError, match="nothing is observed"):
        simulate_until(program_of(silent), SimulateOptions(), Until(0.1))


def test_the_command_line_ends_with_4_when_it_takes_too_long(tmp_path, capsys):
    program = tmp_path / "closed.sq"
    program.write_text(TEXT)
    done = serq(capsys, "run", program, "--until", "5%", "--json")
    until = json.loads(done.out)["until"]
    assert (done.status, until["wanted"], until["enough"]) == (0, 0.05, True)
    short = serq(capsys, "run", program, "--until", "0.001", "--most-work", "1.5")
    assert short.status == 4
    assert "at the limit of 1.5 times the work" in short.err
    assert "observe.response.mean has a half width of" in short.out
    assert serq(capsys, "run", program, "--until", "twice").status == 2
    assert serq(capsys, "run", program, "--longer").status == 2
    assert serq(capsys, "run", program, "--until", "5%", "--measure", "x").status == 2
