"""Traces with faults: the file, the row and the column are named, all faults at once, and the status is 3."""

import json

import pytest

REPLAY = """stage svc : fifo;
workload {{ arrive batch(2); trace "{trace}" ordered; }}
session {{ turn; loop {{ run svc (new); observe size = new; branch (more) {{ turn; }} else {{ end; }} }} }}
run {{ horizon 1000; }}
"""
GOOD = "session,turn,new,out,think\na,1,10,5,1\na,2,20,5,1\nb,1,10,5,1\n"


@pytest.fixture
def replay(write, serq):
    """Run a program that replays this trace."""

    def call(trace: str | bytes, verb: str = "run"):
        write(trace, "trace.csv")
        return serq(verb, write(REPLAY.format(trace="trace.csv")))

    return call


def test_a_good_trace_replays(replay) -> None:
    assert replay(GOOD).status == 0


@pytest.mark.parametrize("verb", ["run", "check"])
def test_rows_and_columns_are_named(replay, verb, tmp_path) -> None:
    done = replay("session,turn,new,out,think\na,x,10,5,1\nb,1,-3,5,nan\nb,2,10\n", verb)
    assert done.status == 3
    for place, said in (
        ("2:3", "SQ711]: row 1, column `turn`: 'x' is no whole number"),
        ("3:5", "SQ711]: row 2, column `new`: '-3' is no whole number of tokens"),
        ("3:10", "SQ711]: row 2, column `think`: 'nan' is no number of seconds"),
        ("4:1", "SQ712]: row 3 has 3 cells and the header has 5"),
    ):
        assert f"{tmp_path}/trace.csv:{place}: error[{said}" in done.err


@pytest.mark.parametrize(
    ("trace", "code"),
    [
        ("session,turn,new\na,1,10\n", "SQ710"),
        ("", "SQ710"),
        ("session,turn,new,out,think\n", "SQ714"),
        (GOOD + "a,2,20,5,1\n", "SQ713"),
        (b"session,turn\xff\xfe\n", "SQ705"),
    ],
    ids=["header", "empty", "no rows", "turns twice", "binary"],
)
def test_other_faults(replay, trace, code) -> None:
    done = replay(trace)
    assert done.status == 3
    assert f"error[{code}]" in done.err
    assert "trace.csv" in done.err


def test_a_trace_that_is_not_there(serq, write, tmp_path) -> None:
    path = write(REPLAY.format(trace="nowhere.csv"))
    done = serq("run", path)
    assert done.status == 3
    assert "SQ704" in done.err
    assert f"{tmp_path}/nowhere.csv" in done.err
    assert serq("run", path, "--trace", tmp_path).status == 3


def test_a_trace_for_a_program_that_replays_none(serq, write) -> None:
    done = serq("run", write(), "--trace", "x.csv")
    assert done.status == 2
    assert "has no `trace`" in done.err


def test_a_fault_in_json(write, serq) -> None:
    write("session,turn,new,out,think\na,x,10,5,1\n", "trace.csv")
    error = serq("run", write(REPLAY.format(trace="trace.csv")), "--json").data["error"]
    assert (error["kind"], error["exit_status"]) == ("LoadError", 3)
    (fault,) = error["diagnostics"]
    assert (fault["code"], fault["line"], fault["column"]) == ("SQ711", 2, 3)
    assert fault["file"].endswith("trace.csv")


def test_a_program_without_turns_is_not_replayed(serq, write) -> None:
    done = serq("replay", write())
    assert done.status == 2
    assert "program never says `turn;`" in done.err
    assert done.out == ""


def test_a_replay_in_which_somebody_waits_for_ever_is_one_json_value(serq, write) -> None:
    text = "pool box { cap 4; } stage s : delay; workload { arrive batch(6); } "
    text += "session { turn; hold box (serial) { run s (1); } } run { horizon 100; }"
    given = "replay", "--strict-vllm", write(text)
    plain, told = serq(*given), serq(*given, "--json")
    assert plain.status == told.status != 0
    assert json.loads(told.out)["stuck"]
    assert "waits" in plain.err
    assert "waits" in told.err
