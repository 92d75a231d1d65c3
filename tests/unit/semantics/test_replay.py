"""Replays: what is logged of each request and step, where they end, what is rejected, what waits for ever."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import serq
from running import program_of

from serq.base.errors import LimitError, LoadError, RunError, UsageError
from serq.semantics.replay import Replayed, ReplayOptions, replay
from serq.semantics.request_log import Request
from serq.semantics.step_log import Step
from serq.traces.convert import Conversion, convert, write
from serq.traces.reader import read_trace

ENGINE = """
let blocks = 100;
pool kv {{ cap blocks * 4; block 4; preempt lifo; }}
pool reqs {{ cap 8; admit via engine; }}
stage engine : step {{ budget 8; cost 1; memory kv; }}
stage way : delay;
stage tool : delay;
workload {{ arrive {arrive}; trace "none.csv" ordered; }}
session {{
  loop {{
    turn;
    run way (0.5);
    hold reqs (1), kv (min(max(new, computed + 1), cachedin(kv) + budget_left(engine))) reserve (max(new, computed + 1))
         reuse (max(new - 1, computed)) {{
      set known = max(new, computed + 1);
      run engine prefill (known - cached) growing kv;
      run engine decode (new + out - 1 - known) growing kv;
    }} cache (new + out - 1);
    branch (more) {{ run tool (think); }} else {{ end; }}
  }}
}}
run {{ horizon {horizon}; }}
"""
HEADER = "session,turn,new,out,think\n"


@pytest.fixture
def replayed(tmp_path: Path) -> Callable[..., tuple[Replayed, list[Request], list[Step]]]:
    """Replays rows of a trace through the engine above, in checked mode."""

    def run(rows: str, text: str = "", **options: Any) -> tuple[Replayed, list[Request], list[Step]]:
        path = tmp_path / "t.csv"
        path.write_text((HEADER if "start" not in rows else "") + rows)
        program = program_of(text or ENGINE.format(arrive="trace", horizon=9), blocks=str(options.pop("blocks", 100)))
        steps: list[Step] = []
        result = replay(program, read_trace(path), replace(ReplayOptions(checked=True), **options), steps.append)
        return result, list(result.requests), steps

    return run


def test_what_is_logged_of_a_request(replayed) -> None:
    result, (first, second), _ = replayed("s,1,10,3,4,\n".replace(",\n", "\n") + "s,2,13,2,0\n")
    # 10 tokens are 8 and 2; tokens at 2.5, 3.5, 4.5. The next turn is sent 4 later, 12 of its 13 tokens are cached
    assert first == Request("s", 1, 0.0, 0.5, 2.5, 4.5, 10, 0, 3, 0)
    assert second == Request("s", 2, 8.5, 9.0, 10.0, 11.0, 13, 12, 2, 0)
    assert (first.name, result.time, result.unsent, result.stuck) == ("s.1", 11.0, 0, None)
    assert result.summary() == {
        "requests": 2, "done": 2, "rejected": 0, "unsent": 0, "preemptions": 0, "mean_first": 2.0, "mean_done": 3.5,
    }  # fmt: skip


def test_a_replay_goes_on_to_its_end_and_not_to_the_horizon(replayed) -> None:
    result, requests, _ = replayed("s,1,10,3,4000\ns,2,13,2,0\n")
    assert (len(requests), result.time) == (2, 4007.0)
    result, requests, _ = replayed("s,1,10,3,4000\ns,2,13,2,0\n", horizon=100)
    assert [(r.turn, r.done) for r in requests] == [(1, 4.5)]
    assert result.unsent == 1


def test_a_request_under_way_at_the_horizon_is_not_done(replayed) -> None:
    for horizon, expected in ((0.2, (None, None, None)), (2.0, (0.5, None, None)), (3.0, (0.5, 2.5, None))):
        _, (request,), _ = replayed("s,1,10,3,4\n", horizon=horizon)
        assert (request.reached, request.first, request.done) == expected


def test_what_is_logged_of_a_step(replayed) -> None:
    _, _, steps = replayed("a,1,6,2,0\nb,1,6,2,0\n")
    assert steps[0] == Step(
        "engine",
        0.5,
        1.5,
        0,
        0.0,
        8.0,
        20.0,
        0,
        2,
        97.0,
        (("a.1", 6.0), ("b.1", 2.0)),
        (("a.1", 0.0), ("b.1", 0.0)),
        (),
        (),
    )
    assert (steps[1].ndec, steps[1].kvb, steps[1].npre, steps[1].attn) == (1, 8.0, 4.0, 16.0)
    assert steps[1].scheduled == (("a.1", 1.0), ("b.1", 4.0))


def test_preemptions_and_evictions_are_logged(replayed) -> None:
    """Both grow to four blocks of six: the later one gives way, and comes back to what is left of its prefix."""
    result, requests, steps = replayed("a,1,8,9,0\nb,1,8,9,0\n", blocks=6)
    assert [r.preemptions for r in requests] == [0, 1]
    assert [name for step in steps for name in step.preempted] == ["b.1"]
    resumed = [(name, hit) for step in steps for name, hit in step.admitted]
    assert resumed[:2] == [("a.1", 0.0), ("b.1", 0.0)]
    assert resumed[2][0] == "b.1"
    assert any(step.evicted for step in steps)
    assert result.summary()["preemptions"] == 1


def test_one_output_token_ends_with_the_prefill(replayed) -> None:
    _, (request,), _ = replayed("s,1,10,1,0\n")
    assert request.first == request.done == 2.5


# -- what never fits -------------------------------------------------------------------------------------------------

HUGE = "a,1,8,2,0\nhuge,1,41,2,0\nhuge,2,4,1,0\nc,1,8,2,0\n"


def test_a_request_larger_than_the_pool_is_rejected_and_counted(replayed) -> None:
    result, requests, _ = replayed(HUGE, blocks=10)
    assert [r.name for r in requests] == ["a.1", "huge.1", "c.1"]
    assert (requests[1].reached, requests[1].first, requests[1].done) == (0.5, None, None)
    assert requests[2].done is not None
    assert (result.requests.rejections, result.unsent, result.stuck) == (1, 1, None)


def test_strictly_it_blocks_for_ever_and_is_named(replayed) -> None:
    result, requests, _ = replayed(HUGE, blocks=10, strict=True)
    assert [r.done is not None for r in requests] == [True, False, False]
    assert result.stuck is not None
    (fault,) = result.stuck.diagnostics
    assert fault.code == "SQ516"
    assert fault.message == (
        "session huge (turn 1) waits for ever: it needs 44 units of kv, and the cap is 40; 1 more wait behind it"
    )
    assert isinstance(result.stuck, RunError)


def test_strictly_it_is_named_although_others_keep_arriving(replayed) -> None:
    text = ENGINE.format(arrive="renewal(2)", horizon=9)
    result, _, _ = replayed("huge,1,41,2,0\n", text, blocks=10, strict=True)
    assert result.stuck is not None
    assert "session huge (turn 1) waits for ever" in result.stuck.diagnostics[0].message
    assert replayed("huge,1,41,2,0\n", text, blocks=10)[0].stuck is None


def test_a_growth_beyond_the_pool_stops_the_run_or_waits_for_ever(replayed) -> None:
    with pytest.raises(RunError, match="SQ511"):
        replayed("a,1,8,40,0\n", blocks=10)
    result, (request,), _ = replayed("a,1,8,40,0\n", blocks=10, strict=True)
    assert (request.preemptions, request.done) == (1, None)
    assert result.stuck is not None
    assert result.stuck.diagnostics[0].code == "SQ516"


def test_sessions_that_wait_for_each_other_are_named(replayed) -> None:
    text = """
    let blocks = 1;
    pool a { cap blocks; }  pool b { cap 1; }  stage d : delay;
    workload { arrive trace; trace "none.csv"; }
    session {
      turn;
      branch (serial) { hold a (1) { run d (1); hold b (1) { } } } else { hold b (1) { run d (1); hold a (1) { } } }
    }
    """
    result, _, _ = replayed("x,1,1,1,0\ny,1,1,1,0\n", text, blocks=1)
    assert result.stuck is not None
    assert [d.message for d in result.stuck.diagnostics] == [
        "session x (turn 1) waits for ever for pool a: nothing can happen any more",
        "session y (turn 1) waits for ever for pool b: nothing can happen any more",
    ]
    assert {d.code for d in result.stuck.diagnostics} == {"SQ517"}


# -- arrivals --------------------------------------------------------------------------------------------------------


def test_sessions_arrive_at_their_recorded_starts(replayed) -> None:
    rows = "session,turn,new,out,think,start\nlate,1,4,1,0,7.25\nsoon,1,4,1,0,0\nalso,1,4,1,0,7.25\n"
    _, requests, _ = replayed(rows)
    assert [(r.session, r.sent) for r in requests] == [("late", 7.25), ("soon", 0.0), ("also", 7.25)]


def test_a_batch_replays_as_many_sessions_as_it_has(replayed) -> None:
    _, requests, _ = replayed("a,1,4,1,0\nb,1,4,1,0\n", ENGINE.format(arrive="batch(3)", horizon=9))
    assert [r.session for r in requests] == ["a", "a", "b"]


def test_endless_arrivals_end_at_the_horizon(replayed) -> None:
    text = ENGINE.format(arrive="renewal(2)", horizon=9)
    _, requests, _ = replayed("a,1,4,1,0\n", text)
    assert [r.sent for r in requests] == [2, 4, 6, 8]
    with pytest.raises(UsageError, match="horizon"):
        replayed("a,1,4,1,0\n", text.replace("run { horizon 9; }", ""))


def test_a_long_replay_is_stopped_at_its_memory(replayed) -> None:
    with pytest.raises(LimitError, match="MiB of memory"):
        replayed("a,1,8,9000,0\n", blocks=3000, memory=1, checked=False)


# -- think time, end to end ------------------------------------------------------------------------------------------


def test_the_next_turn_is_sent_after_the_recorded_think_time(tmp_path: Path) -> None:
    """An engine that answers in 1 second: recorded gaps hold the service time of another one, and must not count."""
    calls = [{"t": 0.0, "in": 100, "out": 5, "api_time": 5.57}, {"t": 12.0, "in": 200, "out": 6, "api_time": 4.31}]
    text = """
    stage engine : delay;  stage tool : delay;
    workload { arrive trace; trace "none.csv"; }
    session { loop { turn; observe sent = now; run engine (1); branch (more) { run tool (think); } else { end; } } }
    """
    for recorded, second in (({"think_time": 7.0}, 8.0), ({}, 7.43)):
        source, trace = tmp_path / "weka.json", tmp_path / "trace.csv"
        source.write_text(json.dumps({"id": "w", "requests": [calls[0], calls[1] | recorded]}))
        write(trace, convert(source, "weka", False, False, Conversion()), keep_start=False)
        result = replay(program_of(text), read_trace(trace))
        assert [r.sent for r in result.requests] == [0.0, pytest.approx(second)]


# -- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A program file and a trace."""
    program, trace = tmp_path / "engine.sq", tmp_path / "t.csv"
    program.write_text(ENGINE.format(arrive="trace", horizon=9))
    trace.write_text(HEADER + HUGE)
    return program, trace


def test_the_table_goes_to_stdout_or_to_a_file(files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, trace = files
    done = serq(capsys, "replay", program, "--trace", trace, "--set", "blocks=10")
    assert done.status == 0
    assert done.out.splitlines()[:3] == [
        "session,turn,sent,reached,first,done,prompt,cached,out,preemptions",
        "a,1,0.0,0.5,1.5,2.5,8,0,2,0",
        "huge,1,0.0,0.5,,,41,,2,0",
    ]
    assert "rejected, as they ask for more than there is: 1" in done.err
    assert "turns of the trace that were never sent: 1" in done.err
    quiet = serq(
        capsys, "replay", program, "--trace", trace, "--set", "blocks=10", "--quiet", "--out", tmp_path / "r.csv"
    )
    assert (quiet.out, quiet.err) == ("", "")
    assert (tmp_path / "r.csv").read_text() == done.out
    serq(capsys, "replay", program, "--trace", trace, "--out", tmp_path / "r.parquet")
    assert serq(capsys, "diff", tmp_path / "r.parquet", tmp_path / "r.parquet").status == 0


def test_the_table_as_json(files, capsys: pytest.CaptureFixture[str]) -> None:
    program, trace = files
    done = serq(capsys, "replay", program, "--trace", trace, "--set", "blocks=10", "--json")
    report = json.loads(done.out)
    assert report["summary"]["rejected"] == 1
    assert report["requests"][1]["first"] is None
    assert report["schema"].startswith("serq.replay/")


def test_strict_vllm_on_the_command_line(files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, trace = files
    words = ("replay", program, "--trace", trace, "--set", "blocks=10", "--strict-vllm", "--dump", tmp_path / "d")
    done = serq(capsys, *words)
    assert done.status == 5
    assert "error[SQ516]: session huge (turn 1) waits for ever" in done.err
    assert len(done.out.splitlines()) == 4  # what there is of the table comes first
    assert (tmp_path / "d" / "requests.csv").read_text() == done.out
    assert len((tmp_path / "d" / "steps.csv").read_text().splitlines()) == 3


BAD = "session,turn,new,out,think,forced\n0,0,0,10,0,0\n1,0,-5,10,0,0\n2,0,abc,10,0,0\n"


@pytest.mark.parametrize("verb", ["run", "replay"])
def test_zero_negative_and_non_numbers_are_refused(
    verb: str, files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, _ = files
    bad = tmp_path / "bad.csv"
    bad.write_text(BAD)
    done = serq(capsys, verb, program, "--trace", bad)
    assert done.status == 3
    for line, value in ((2, "0"), (3, "-5"), (4, "abc")):
        place = f"{bad}:{line}:5: error[SQ711]: row {line - 1}, column `new`: '{value}' is no whole number of tokens"
        assert place in done.err


def test_no_output_tokens_are_a_call_that_failed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """They are allowed in a trace; the shipped replica gives such a call the one token that ends its prefill."""
    trace = tmp_path / "t.csv"
    trace.write_text(HEADER + "a,1,100,0,1\na,2,120,4,0\n")
    done = serq(capsys, "replay", "vllm_replay", "--trace", trace)
    assert done.status == 0
    rows = [line.split(",") for line in done.out.splitlines()[1:]]
    assert rows[0][4] == rows[0][5]  # first and done
    assert rows[0][8] == "0"


def test_a_program_without_a_trace(capsys: pytest.CaptureFixture[str], files) -> None:
    _, trace = files
    assert serq(capsys, "replay", "mm1n", "--trace", trace).status == 2
    with pytest.raises(LoadError):
        program_of("workload { arrive trace; } session { end; }")
