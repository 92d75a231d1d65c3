"""Dumps: every observation, to the bit."""

import csv
import importlib.util

import pytest
from running import options, program_of, run

from serq.base.errors import OutputError, UsageError
from serq.semantics.dump import write_dump
from serq.semantics.replications import replicate

TEXT = """stage svc : fifo; workload { arrive poisson(1); }
session { turn; set t0 = now; run svc (~exp(0.5)); observe r = now - t0; observe third = serial / 3; }
run { horizon 50; warmup 5; }"""


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_csv_reads_back_to_the_bit(tmp_path):
    result = run(TEXT)
    files = write_dump([result], tmp_path / "new" / "place")
    assert [f.name for f in files] == ["r.csv", "third.csv"]
    for file in files:
        samples = result.samples[file.stem]
        read = rows(file)
        assert list(read[0]) == ["time", "session", "turn", "value"]
        assert [float(r["value"]) for r in read] == samples.values.tolist()
        assert [float(r["time"]) for r in read] == samples.times.tolist()
        assert [int(r["session"]) for r in read] == samples.sessions.tolist()
        assert {r["turn"] for r in read} == {"1"}


def test_replications_have_directories_of_their_own(tmp_path):
    program = program_of(TEXT)
    files = write_dump(replicate(program, options(program), 2), tmp_path)
    assert [str(f.relative_to(tmp_path)) for f in files] == [
        "replication-0/r.csv", "replication-0/third.csv", "replication-1/r.csv", "replication-1/third.csv",
    ]  # fmt: skip
    assert rows(files[0]) != rows(files[2])


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    result = run(TEXT)
    path = write_dump([result], tmp_path, "parquet")[0]
    table = parquet.read_table(path)
    assert table.column_names == ["time", "session", "turn", "value"]
    assert table["value"].to_pylist() == result.samples["r"].values.tolist()


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("serq.semantics.dump.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"install serq\[frames\]"):
        write_dump([run(TEXT)], tmp_path, "parquet")
    assert importlib.util.find_spec("csv") is not None


def test_a_format_that_is_none(tmp_path):
    with pytest.raises(UsageError, match="csv or parquet, not 'xml'"):
        write_dump([run(TEXT)], tmp_path, "xml")


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="not a directory"):
        write_dump([run(TEXT)], tmp_path / "file")


def test_samples_that_were_not_kept(tmp_path):
    with pytest.raises(ValueError, match="keep_samples"):
        write_dump([run(TEXT, keep_samples=False)], tmp_path)
