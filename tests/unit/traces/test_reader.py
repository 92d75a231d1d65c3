"""Traces: what is read, and every fault with its file, row, line and column."""

import pytest
from running import options, program_of, run, seen

from serq.base.errors import InputError, LoadError
from serq.base.render import render
from serq.semantics.reference import simulate
from serq.traces.reader import read_trace

HEADER = "session,turn,new,out,think,forced\n"


def write(tmp_path, text, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_turns_of_sessions(tmp_path):
    corpus = read_trace(write(tmp_path, HEADER + "a,1,100,4,1.5,0\na,2,150,0,0,1\nb,1,7,1,2e-3,0\n"))
    assert len(corpus) == 2
    assert [corpus.turns(i) for i in range(2)] == [2, 1]
    assert corpus.turn(0, 1) == {"new": 100, "out": 4, "think": 1.5, "more": 1, "forced": 0}
    assert corpus.turn(0, 2) == {"new": 150, "out": 0, "think": 0, "more": 0, "forced": 1}
    assert corpus.turn(0, 3) == corpus.turn(0, 2)
    assert corpus.turn(1, 1) == {"new": 7, "out": 1, "think": 0.002, "more": 0, "forced": 0}


def test_the_rows_of_a_session_need_not_be_neighbours(tmp_path):
    mixed = read_trace(write(tmp_path, HEADER + "x,0,1,1,0,0\ny,0,2,1,0,0\nx,1,3,1,0,0\ny,5,4,1,0,0\n"))
    assert [[mixed.turn(i, k)["new"] for k in (1, 2)] for i in (0, 1)] == [[1, 3], [2, 4]]


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfsession,turn,new,out,think\r\n0,1,5,1,0\r\n\r\n",
        b"think, new ,out,turn,session\n0,5,1,1,0",
        b'session,turn,new,out,think\n"0",1," 5 ",1.0,0\n',
    ],
    ids=["byte order mark, CRLF, blank line", "other order, no last newline", "quotes, spaces, whole doubles"],
)
def test_spellings_of_one_trace(tmp_path, text):
    corpus = read_trace(write(tmp_path, text))
    assert corpus.turn(0, 1) == {"new": 5, "out": 1, "think": 0, "more": 0, "forced": 0}


FAULTS = [
    ("", "SQ710", (1, 1, 2), "the header of the trace lacks `session`, `turn`, `new`, `out`, `think`"),
    ("session,turn,new,out\n", "SQ710", (1, 1, 21), "the header of the trace lacks `think`"),
    (
        "session,turn,new,out,think,focred\n",
        "SQ710",
        (1, 1, 34),
        "the header of the trace has an unknown column `focred`",
    ),
    (HEADER.replace("forced", "out"), "SQ710", (1, 1, 31), "the header of the trace repeats `out`"),
    (HEADER, "SQ714", (1, 1, 2), "the trace has no rows"),
    (
        HEADER + "0,1,5,1,0,0\n0,2,-5,10,0,0\n",
        "SQ711",
        (3, 5, 7),
        "row 2, column `new`: '-5' is no whole number of tokens, at least 1",
    ),
    (
        HEADER + "\n0,1,abc,10,0,0\n",
        "SQ711",
        (3, 5, 8),
        "row 1, column `new`: 'abc' is no whole number of tokens, at least 1",
    ),
    (
        HEADER + "0,1,0,10,0,0\n",
        "SQ711",
        (2, 5, 6),
        "row 1, column `new`: '0' is no whole number of tokens, at least 1",
    ),
    (
        HEADER + "0,1,2.5,10,0,0\n",
        "SQ711",
        (2, 5, 8),
        "row 1, column `new`: '2.5' is no whole number of tokens, at least 1",
    ),
    (
        HEADER + "0,1,5,-1,0,0\n",
        "SQ711",
        (2, 7, 9),
        "row 1, column `out`: '-1' is no whole number of tokens, 0 or more",
    ),
    (
        HEADER + "0,1,5,1,inf,0\n",
        "SQ711",
        (2, 9, 12),
        "row 1, column `think`: 'inf' is no number of seconds, 0 or more",
    ),
    (HEADER + "0,1,5,1,,0\n", "SQ711", (2, 9, 10), "row 1, column `think`: '' is no number of seconds, 0 or more"),
    (HEADER + "0,1,5,1,0,2\n", "SQ711", (2, 11, 12), "row 1, column `forced`: '2' is no 0 or 1"),
    (HEADER + ",1,5,1,0,0\n", "SQ711", (2, 1, 2), "row 1, column `session`: '' is no name of a session"),
    (
        HEADER + "0,1e400,5,1,0,0\n",
        "SQ711",
        (2, 3, 8),
        "row 1, column `turn`: '1e400' is no whole number, 0 or more, below 2^53",
    ),
    *(
        (
            HEADER + f"0,1,{new},1,0,0\n",
            "SQ711",
            (2, 5, 5 + len(new)),
            f"row 1, column `new`: '{new}' is no whole number of tokens, at least 1, below 2^53",
        )
        for new in ("9007199254740992", "9007199254740993", "99999999999999999999")
    ),
    (HEADER + "0,1,5,1,0\n", "SQ712", (2, 1, 10), "row 1 has 5 cells and the header has 6"),
    (
        HEADER + "0,2,5,1,0,0\n1,1,5,1,0,0\n0,2,5,1,0,0\n",
        "SQ713",
        (4, 3, 4),
        "row 3, column `turn`: turn 2 of session 0 follows turn 2",
    ),
]


@pytest.mark.parametrize(("text", "code", "place", "message"), FAULTS, ids=[f"{f[1]} {f[3][:40]}" for f in FAULTS])
def test_every_fault_has_its_place(tmp_path, text, code, place, message):
    path = write(tmp_path, text)
    with pytest.raises(LoadError) as caught:
        read_trace(path)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.message) == (code, message)
    assert (fault.span.line, fault.span.column, fault.span.end_column) == place
    assert caught.value.source.name == str(path)
    assert caught.value.exit_status == 3


def test_all_faults_at_once_up_to_a_screenful(tmp_path):
    with pytest.raises(LoadError) as caught:
        read_trace(write(tmp_path, HEADER + "0,x,-1,y,z,7\n" * 1000))
    assert 20 <= len(caught.value.diagnostics) <= 25
    assert [d.column for d in caught.value.diagnostics[:5]] == ["turn", "new", "out", "think", "forced"]


def test_a_fault_is_shown_in_its_line(tmp_path):
    path = write(tmp_path, HEADER + "0,1,5,1,0,0\n0,2,-5,10,0,0\n")
    with pytest.raises(LoadError) as caught:
        read_trace(path)
    shown = render(caught.value.source, caught.value.diagnostics[0])
    assert shown.splitlines() == [
        f"{path}:3:5: error[SQ711]: row 2, column `new`: '-5' is no whole number of tokens, at least 1",
        "    3 | 0,2,-5,10,0,0",
        "      |     ^^",
    ]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "cannot read the trace .*: No such file or directory"),
        (b"\xff\xfe\x00\x01", "is not CSV text"),
        (HEADER.encode() + b'0,"1,5\n', "is not CSV text"),
        (HEADER.encode() + b"0,1,5\x00,1,0,0\n", "is not CSV text|SQ711"),
    ],
    ids=["missing", "binary", "open quote", "NUL"],
)
def test_what_is_no_text_is_refused(tmp_path, content, text):
    path = tmp_path / "none.csv" if content is None else write(tmp_path, content)
    with pytest.raises((InputError, LoadError), match=text):
        read_trace(path)


def test_a_directory_is_no_trace(tmp_path):
    with pytest.raises(InputError, match="cannot read the trace"):
        read_trace(tmp_path)


REPLAY = """stage d : delay; workload {{ arrive batch({n}); trace "{path}" {order}; }}
session {{ loop {{ turn; observe new = new; run d (1); branch (more == 0) {{ end; }} }} }} run {{ horizon 99; }}"""


def test_ordered_replay_goes_through_the_file_and_begins_again(tmp_path):
    path = write(tmp_path, HEADER + "a,1,1,1,0,0\na,2,2,1,0,0\nb,1,3,1,0,0\n")
    result = run(REPLAY.format(n=3, path=path, order="ordered"))
    assert seen(result, "new") == [(0, 0, 1), (0, 1, 3), (0, 2, 1), (1, 0, 2), (1, 2, 2)]


def test_random_replay_draws_each_session_alike(tmp_path):
    """600 sessions of a file of three: each is drawn 200 +- 11.5 times; 5 sigma, false alarm 2e-6."""
    path = write(tmp_path, HEADER + "".join(f"{k},1,{k + 1},1,0,0\n" for k in range(3)))
    program = program_of(REPLAY.format(n=600, path=path, order=""))
    first = simulate(program, options(program, checked=False))
    drawn = list(first.samples["new"].values)
    assert all(abs(drawn.count(k) - 200) < 58 for k in (1, 2, 3))
    assert list(simulate(program, options(program, checked=False)).samples["new"].values) == drawn
    assert list(simulate(program, options(program, checked=False), 1).samples["new"].values) != drawn


def test_another_trace_can_be_given(tmp_path):
    path = write(tmp_path, HEADER + "a,1,1,1,0,0\n")
    other = write(tmp_path, HEADER + "a,1,42,1,0,0\n", "other.csv")
    result = run(REPLAY.format(n=1, path=path, order="ordered"), trace=str(other))
    assert [v for _, _, v in seen(result, "new")] == [42]


def test_a_trace_lies_beside_its_program(tmp_path):
    from serq.pipeline import load

    write(tmp_path, HEADER + "a,1,7,1,0,0\n")
    program = load(write(tmp_path, REPLAY.format(n=1, path="t.csv", order="ordered"), "p.sq")).program
    assert list(simulate(program, options(program)).samples["new"].values) == [7]
