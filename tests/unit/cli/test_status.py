"""Exit statuses that other files do not cover, and failures of serQ itself."""

import ctypes
import re
import signal
from pathlib import Path

import click
import pytest

from serq.cli.failures import Stops, run_and_report

LOOP = (
    "stage d : delay; workload {{ arrive closed(1); }} session {{ loop {{ {} observe x = 1; }} }} run {{ horizon 99; }}"
)


def test_a_session_that_ends_at_once_is_stopped(serq, write) -> None:
    path = write("stage d : delay; workload { arrive closed(1); } session { observe x = 1; } run { horizon 9; }")
    done = serq("run", path, "--quiet")
    assert done.status == 5
    assert "error[SQ510]" in done.err


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("run d (0 - 1);", "SQ501"),
        ("run d (1); branch (now) { run d (1); } else { run d (1); }", "SQ502"),
        ("set k = now * 0; run d (k);", "SQ509"),
        ("run d (1); set k = now * 0 - 1; run d (~exp(k));", "SQ514"),
    ],
)
def test_a_program_that_fails_while_running_is_named_with_its_line(serq, write, statement, code) -> None:
    done = serq("run", write(LOOP.format(statement)), "--quiet")
    assert (done.status, done.out) == (5, "")
    assert re.search(rf"program\.sq:1:\d+: error\[{code}\]: ", done.err)


def test_a_failure_in_a_worker_process_is_the_same(serq, write) -> None:
    path = write(LOOP.format("run d (0 - 1);"))
    alone = serq("run", path, "--quiet")
    assert serq("run", path, "--quiet", "--replications", 3, "--jobs", 2).err == alone.err


@pytest.mark.parametrize(
    "options",
    [
        ("--horizon", "0"), ("--horizon", "-1"), ("--horizon", "inf"), ("--horizon", "nan"), ("--horizon", "x"),
        ("--warmup", "200"), ("--warmup", "-1"), ("--warmup", "nan"), ("--seed", "-1"), ("--seed", "1.5"),
        ("--replications", "0"), ("--jobs", "0"), ("--confidence", "1"), ("--engine", "nope"), ("--format", "xls"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(serq, write, options) -> None:
    done = serq("run", write(), *options)
    assert (done.status, done.out) == (2, "")


def test_no_horizon(serq, write) -> None:
    path = write(write().read_text().partition("run {")[0])
    done = serq("run", path)
    assert done.status == 2
    assert "give --horizon" in done.err
    assert serq("run", path, "--horizon", 50).status == 0


@pytest.mark.parametrize(
    "command",
    [
        ("solve", "PROGRAM", "--method", "guess"), ("solve", "PROGRAM", "--exact", "--method", "lu"),
        ("check", "PROGRAM", "--until-power", "x"), ("check", "PROGRAM", "--until-power", "0%"),
        ("check", "PROGRAM", "--false-alarm", "0"), ("export", "PROGRAM"), ("price", "PROGRAM"),
        ("export", "PROGRAM", "--prism", "--const-open", "zzz"), ("closed-form",), ("closed-form", "mm1n", "N"),
        ("closed-form", "mm1n", "N=x", "mu=1", "Z=1"), ("closed-form", "mm1n", "Q=1"), ("fmt",),
        ("fmt", "PROGRAM", "--check", "--out", "x"), ("closed-form", "nosuch", "k=1"), ("models", "nope"),
    ],
)  # fmt: skip
def test_calls_that_are_off(serq, write, command) -> None:
    path = write()
    done = serq(*(path if word == "PROGRAM" else word for word in command))
    assert (done.status, done.out) == (2, "")
    assert done.err


def test_no_answer_is_one(serq, write) -> None:
    path = write("pool m { cap 1; } " + write().read_text().replace("run svc", "hold m (1) { } run svc"))
    assert serq("closed-form", path).status == 1
    assert serq("lint", write("let a = zzz;")).status == 1
    assert serq("fmt", "--check", write("let a=1;")).status == 1


def broken(error: Exception) -> click.Command:
    @click.command()
    def command() -> None:
        raise error

    return command


def test_an_internal_error_says_that_it_is_one_and_where_the_traceback_is(capsys) -> None:
    assert run_and_report(broken(KeyError("lost")), []) == 70
    out, err = capsys.readouterr()
    assert out == ""
    said, hint = err.splitlines()
    assert said == "serq: error: internal error: this is a bug in serQ, not in your program: KeyError: 'lost'"
    place = Path(hint.rpartition(" ")[2])
    assert "please report it" in hint
    assert "Traceback (most recent call last)" in place.read_text()
    assert "raise error" in place.read_text()
    place.unlink()


def test_an_internal_error_in_json(capsys) -> None:
    import json

    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    def command(as_json: bool) -> None:
        raise AssertionError("lost")

    assert run_and_report(command, ["--json"]) == 70
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["exit_status"]) == ("InternalError", 70)
    Path(error["hint"].rpartition(" ")[2]).unlink()


def test_recursion_without_end_is_a_bug_and_no_memory_is_a_limit(capsys) -> None:
    assert run_and_report(broken(RecursionError("deep")), []) == 70
    Path(capsys.readouterr().err.split()[-1]).unlink()
    assert run_and_report(broken(MemoryError()), []) == 4
    assert "not enough memory" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "status"), [("terminate", 143), ("interrupt", 130)])
def test_a_signal_ends_the_process_though_a_library_takes_its_exception_for_a_fault(capsys, name, status) -> None:
    """As ctypes does where a signal comes while an argument is converted."""
    stops = Stops()

    @click.command()
    def command() -> None:
        try:
            getattr(stops, name)(signal.SIGTERM, None)
        except BaseException as error:
            raise ctypes.ArgumentError(f"argument 1: {type(error).__name__}: {error}") from None

    try:
        found = run_and_report(command, [], stops)
    except SystemExit as end:
        found = end.code
    assert found == status
    assert "internal error" not in capsys.readouterr().err
