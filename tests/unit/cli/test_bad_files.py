"""Program files that are none: every verb that reads a program says what is wrong and ends with status 3."""

import time

import pytest

READERS = (
    ("run",), ("solve",), ("check",), ("explain",), ("closed-form",), ("export", "--prism"), ("price", "--to", "a=1"),
)  # fmt: skip
"""Verbs that need a program which loads; `lint` and `fmt` have tests of their own."""


@pytest.fixture(params=READERS, ids=lambda verb: verb[0])
def verb(request):
    return request.param


def test_missing_file(serq, verb, tmp_path) -> None:
    done = serq(*verb, tmp_path / "nowhere.sq")
    assert (done.status, done.out) == (3, "")
    assert done.err == f"serq: error[SQ001]: there is no file `{tmp_path}/nowhere.sq`\n"


def test_missing_file_with_a_near_name(serq, write, tmp_path) -> None:
    write(name="queue.sq")
    assert f"did you mean `{tmp_path}/queue.sq`?" in serq("run", tmp_path / "quue.sq").err


def test_neither_file_nor_shipped_model(serq, verb) -> None:
    done = serq(*verb, "mm1m")
    assert done.status == 3
    assert done.err.startswith("serq: error[SQ701]: there is no file `mm1m`")
    assert "did you mean `mm1" in done.err


def test_directory(serq, verb, tmp_path) -> None:
    done = serq(*verb, tmp_path)
    assert done.status == 3
    assert f"error[SQ002]: `{tmp_path}` is a directory" in done.err


def test_binary(serq, verb, write) -> None:
    done = serq(*verb, write(b"let N = 8;\n\x00\x01\x02"))
    assert done.status == 3
    assert "is no text file: byte 11 is NUL" in done.err


def test_another_encoding(serq, write) -> None:
    done = serq("run", write("// Erlang's café\n".encode("latin-1")))
    assert done.status == 3
    assert "is not UTF-8: byte 15 (0xe9), in line 1" in done.err


def test_a_bad_file_is_worse_than_a_price_of_nothing(serq, write) -> None:
    assert serq("price", write("")).status == 3
    done = serq("price", write())
    assert (done.status, "say what changes" in done.err) == (2, True)


def test_empty_program(serq, verb, write) -> None:
    done = serq(*verb, write(""))
    assert done.status == 3
    assert "error[SQ119]: the program has no workload" in done.err
    assert "error[SQ119]: the program has no session" in done.err


@pytest.mark.parametrize("text", ["let a = 1;\n", "// nothing\n", "x" * 999 + "\n"], ids=["lets", "comments", "noise"])
def test_ten_megabytes(serq, write, text) -> None:
    path = write(text * (10_000_000 // len(text)))
    start = time.perf_counter()
    done = serq("run", path)
    assert done.status == 3
    assert "error[SQ006]: a program of more than 1000000 bytes is too large" in done.err
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    "text",
    [
        "let a = " + "(" * 5000 + "1" + ")" * 5000 + ";",
        "let a = " + "-" * 5000 + "1;",
        "let a = " + "1 + " * 5000 + "1;",
        "session { " + "loop { " * 3000 + "}" * 3000 + "}",
        "session { " + "hold m (1) { " * 3000,
    ],
    ids=["parentheses", "signs", "sum", "loops", "open holds"],
)
def test_deep_nesting(serq, verb, write, text) -> None:
    done = serq(*verb, write(text))
    assert done.status == 3
    assert "error[SQ022]: more than 200 levels of nesting" in done.err
    assert max(map(len, done.err.splitlines())) < 400


def test_nesting_just_allowed_works_in_every_stage(serq, write) -> None:
    body = "run d (" + "(" * 90 + "~exp(1)" + ")" * 90 + "); observe x = 1;"
    text = "stage d : delay; workload { arrive closed(1); } session { " + "loop { " * 60 + body + " }" * 60 + " }"
    path = write(text)
    assert serq("run", path, "--horizon", 20).status == 0
    assert serq("solve", path).status == 0
    assert serq("lint", path).status in (0, 1)


def test_lint_and_fmt_of_bad_files(serq, write, tmp_path) -> None:
    for verb in ("lint", "fmt"):
        assert serq(verb, tmp_path / "nowhere.sq").status == 3
        assert serq(verb, tmp_path).status == 3
        assert serq(verb, write(b"\x00")).status == 3
    empty = serq("lint", write(""))
    assert empty.status == 1
    assert "error[SQ119]" in empty.out
    assert serq("fmt", write("let a = ;")).status == 3
