"""Traces as columns: Parquet, further columns, starts, and files of a million rows."""

import gzip
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from serq.base.errors import InputError, LoadError
from serq.base.render import render
from serq.traces.reader import read_trace

HEADER = "session,turn,new,out,think,forced"


def written(folder: Path, columns: dict[str, Any], name: str = "t.parquet") -> Path:
    parquet.write_table(pyarrow.table(columns), folder / name)
    return folder / name


GOOD = {"session": ["a", "a", "b"], "turn": [1, 2, 1], "new": [5, 9, 3], "out": [1, 0, 2], "think": [0.5, 0.0, 0.0]}


def test_parquet_is_read_like_csv(tmp_path: Path) -> None:
    corpus = read_trace(written(tmp_path, GOOD))
    assert list(corpus.names) == ["a", "b"]
    assert corpus.turn(0, 2) == {"new": 9, "out": 0, "think": 0, "more": 0, "forced": 0}
    numbered = read_trace(written(tmp_path, GOOD | {"session": [7, 7, 8]}, "wrong.csv"))  # known by its first bytes
    assert list(numbered.names) == ["7", "8"]


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"new": [5, 0, 3]}, "SQ711", "row 2, column `new`: '0' is no whole number of tokens, at least 1"),
        ({"new": [5, None, 3]}, "SQ711", "row 2, column `new`: '' is no whole number of tokens, at least 1"),
        ({"new": ["5", "x", "3"]}, "SQ711", "row 2, column `new`: 'x' is no whole number of tokens, at least 1"),
        (
            {"think": [0.5, float("nan"), 0.0]},
            "SQ711",
            "row 2, column `think`: 'nan' is no number of seconds, 0 or more",
        ),
        ({"session": ["a", None, "b"]}, "SQ711", "row 2, column `session`: '' is no name of a session"),
        ({"turn": [1, 1, 1]}, "SQ713", "row 2, column `turn`: turn 1 of session a follows turn 1"),
        ({"forsed": [0, 0, 0]}, "SQ710", "the header of the trace has an unknown column `forsed`"),
    ],
)
def test_faults_of_parquet_name_row_and_column(tmp_path: Path, change: dict[str, Any], code: str, message: str) -> None:
    path = written(tmp_path, GOOD | change)
    with pytest.raises(LoadError) as caught:
        read_trace(path)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.message) == (code, message)
    assert render(caught.value.source, fault).startswith(f"{path}")


def test_no_rows_and_no_parquet(tmp_path: Path) -> None:
    empty = pyarrow.table({name: pyarrow.array([], pyarrow.float64()) for name in GOOD})
    parquet.write_table(empty, tmp_path / "empty.parquet")
    with pytest.raises(LoadError) as caught:
        read_trace(tmp_path / "empty.parquet")
    assert caught.value.diagnostics[0].code == "SQ714"
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InputError) as refused:
        read_trace(tmp_path / "broken.parquet")
    assert refused.value.code == "SQ705"


def test_packed_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(f"{HEADER}\n0,1,5,1,0,0\n".encode()))
    assert read_trace(path).turn(0, 1)["new"] == 5
    path.write_bytes(gzip.compress(f"{HEADER}\n0,1,5,1,0,0\n".encode())[:-9])
    with pytest.raises(InputError):
        read_trace(path)


def test_further_columns_that_the_program_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{HEADER},urgency\n0,1,5,1,0,0,-2.5\n")
    assert read_trace(path, ("urgency",)).turn(0, 1)["urgency"] == -2.5
    with pytest.raises(LoadError, match="unknown column `urgency`"):
        read_trace(path)
    with pytest.raises(LoadError, match="lacks `place`"):
        read_trace(path, ("urgency", "place"))
    path.write_text(f"{HEADER},urgency\n0,1,5,1,0,0,soon\n")
    with pytest.raises(LoadError, match="row 1, column `urgency`: 'soon' is no finite number"):
        read_trace(path, ("urgency",))


def test_sessions_by_their_starts(tmp_path: Path) -> None:
    """The first row of a session counts; sessions of one instant arrive together, in the order of the file."""
    path = tmp_path / "t.csv"
    path.write_text(
        "session,turn,new,out,think,start\nc,1,1,1,0,9\na,1,1,1,0,0\nb,1,1,1,0,9\nc,2,1,1,0,4\nd,1,1,1,0,1.5\n"
    )
    corpus = read_trace(path)
    assert list(corpus.start) == [9, 0, 9, 1.5]
    assert [corpus.names[i] for i in corpus.by_start()] == ["a", "d", "c", "b"]
    assert list(corpus.arrivals()) == [(0, 1), (1.5, 1), (9, 2)]


_BIG = """
import resource, sys
from pathlib import Path
from serq.traces.reader import read_trace
read_trace(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
corpus = read_trace(Path(sys.argv[2]))
print(len(corpus), sum(corpus.columns["new"]), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def test_a_million_rows_take_little_memory(tmp_path: Path) -> None:
    """Measured in a process of its own: below 150 bytes a row, in whichever order the rows of the sessions stand."""
    draws = random.Random(1)
    rows = [
        f"{s},{t},{draws.randint(1, 4000)},9,{draws.random() * 20:.3f},0" for t in range(10) for s in range(100_000)
    ]
    big, small = tmp_path / "big.csv", tmp_path / "small.csv"
    big.write_text("\n".join([HEADER, *rows, ""]))
    small.write_text("\n".join([HEADER, *rows[:10], ""]))
    expected = sum(int(row.split(",")[2]) for row in rows)
    done = subprocess.run([sys.executable, "-c", _BIG, small, big], capture_output=True, text=True, check=True)
    sessions, tokens, megabytes = done.stdout.split()
    assert (int(sessions), float(tokens)) == (100_000, expected)
    assert float(megabytes) < 150


def test_one_bad_row_far_down_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("w") as file:
        file.write(HEADER + "\n")
        file.writelines(f"{s},1,5,1,0,0\n" for s in range(199_999))
        file.write("last,1,-5,1,0,0\n")
    with pytest.raises(LoadError) as caught:
        read_trace(path)
    (fault,) = caught.value.diagnostics
    assert (fault.span.line, fault.row, fault.column) == (200_001, 200_000, "new")  # type: ignore[attr-defined]
    assert "last,1,-5,1,0,0" in render(caught.value.source, fault)
    assert len(caught.value.source.text) < 210_000  # the other lines were not kept
