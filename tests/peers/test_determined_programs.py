"""Programs in which nothing is drawn, random in form and written by hand: the peer interpreter observes the same
values in the same order, to the last digit, and has the same averages of stages and pools.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import peer
import pytest
from determined import program

from serq import models, pipeline
from serq.base.errors import RunError
from serq.ir.program import Fifo, Program
from serq.semantics.options import options_of
from serq.semantics.reference import simulate
from serq.semantics.report import RunReport, report_of
from serq.semantics.run_result import RunResult

SEEDS = range(90)
CLOSE = 1e-12
STAGE = {"mean_number": "number", "throughput": "throughput", "mean_wait": "wait"}
POOL = {
    "mean_used": "used", "mean_cached": "cached", "mean_queue": "queue", "mean_wait": "queue_wait",
    "evicted_units": "evicted_units", "preemptions": "preemptions", "rejected": "rejections",
}  # fmt: skip
PER_RUN = {"evicted_units", "preemptions", "rejected"}
"""Pool counts, which the peer counts from time 0 whatever the warm-up."""


def ours(text: str) -> tuple[Program, RunResult, RunReport] | None:
    """Our run of a program; None when we refuse to go on where the peer goes on (a livelock, growth above the cap)."""
    linked = pipeline.load_text(text).program
    options = replace(options_of(linked), keep_samples=True, checked=True)
    try:
        result = simulate(linked, options)
    except RunError:
        return None
    return linked, result, report_of(linked, options, [result])


@cache
def both() -> dict[int, tuple[tuple[Program, RunResult, RunReport], dict[str, Any]]]:
    """The generated programs, run by both."""
    texts = {seed: program(seed) for seed in SEEDS}
    mine = {seed: run for seed, text in texts.items() if (run := ours(text)) is not None}
    reports = peer.run([peer.Job(peer.respell(texts[seed]), dump=True) for seed in mine], timeout=120)
    return {seed: (run, report) for (seed, run), report in zip(mine.items(), reports, strict=True)}


def check_observations(result: RunResult, theirs: Mapping[str, Any]) -> None:
    for name, samples in result.samples.items():
        rows = theirs.get(name, {"rows": []})["rows"]
        mine = [list(row) for row in zip(samples.times, samples.sessions, samples.values, strict=True)]
        assert mine == [pytest.approx([time, session, value], abs=CLOSE) for time, session, _, value in rows], name


def check_summaries(report: RunReport, theirs: Mapping[str, Any]) -> None:
    for section in report.observes:
        if section.name in theirs:
            found, right = section.summary, theirs[section.name]
            assert found is not None
            assert found.count == right["count"]
            if not found.count:
                continue
            for mine, other in ((found.mean, "mean"), (found.minimum, "min"), (found.maximum, "max")):
                assert mine == pytest.approx(right[other], rel=CLOSE, abs=CLOSE)


def averages(linked: Program, theirs: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The peer's averages under our names."""
    span = theirs["end"] - theirs["warmup"]
    preempted = any(row["preemptions"] for row in theirs["pools"])
    for stage, row in zip(linked.stages, theirs["stages"], strict=True):
        # serQ counts the waits of jobs that a preemption took away
        waits = isinstance(stage.kind, Fifo) and not preempted
        for other, statistic in STAGE.items():
            if row[other] is not None and (waits or statistic != "wait"):
                yield f"stage.{stage.name}.{statistic}", row[other]
    for pool, row in zip(linked.pools, theirs["pools"], strict=True):
        for other, statistic in POOL.items():
            if row[other] is not None and not (other in PER_RUN and theirs["warmup"]):
                yield f"pool.{pool.name}.{statistic}", row[other] / (span if other in PER_RUN else 1)


def check_averages(linked: Program, report: RunReport, theirs: Mapping[str, Any]) -> None:
    for measure, right in averages(linked, theirs):
        assert report.estimate(measure).value == pytest.approx(right, rel=CLOSE, abs=CLOSE), measure


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_of_random_form(seed: int) -> None:
    if seed not in both():
        pytest.skip("serQ stops this program with an error")
    (linked, result, report), theirs = both()[seed]
    check_observations(result, theirs["observes"])
    check_summaries(report, theirs["observes"])
    check_averages(linked, report, theirs)


def test_hardly_a_program_is_left_out_and_all_kinds_of_things_happen() -> None:
    assert len(both()) >= 80
    reports = [theirs for _, theirs in both().values()]
    pools = [pool for report in reports for pool in report["pools"]]
    for count, least in (("admissions", 2000), ("evicted_units", 1000), ("preemptions", 100), ("rejected", 3)):
        assert sum(pool[count] for pool in pools) >= least, count
    assert sum(len(o["rows"]) for report in reports for o in report["observes"].values()) > 2000
    assert sum(stage["iterations"] for report in reports for stage in report["stages"]) > 500


def test_the_replay_model() -> None:
    model = models.find("vllm_replay")
    assert model is not None
    trace = str(model.path.with_name("vllm_replay_trace.csv"))
    text = model.path.read_text("utf-8").replace("vllm_replay_trace.csv", trace)
    run = ours(text)
    assert run is not None
    linked, result, report = run
    (theirs,) = peer.run([peer.Job(peer.respell(text.replace("arrive trace;", "arrive batch(12);")), dump=True)])
    check_observations(result, theirs["observes"])
    check_summaries(report, theirs["observes"])
    check_averages(linked, report, theirs)
