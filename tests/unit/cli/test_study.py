"""`serq study`: tables, files, going on after an end of any kind."""

import csv
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from studies import FRAGILE, QUEUE, written

GRID = ("--vary", "N=1:3", "--replications", "2", "--jobs", "1")
SOLVED = ("--vary", "N=1:3", "--methods", "exact,closed", "--jobs", "1")
"""The same without a simulation."""


@pytest.fixture
def study(serq, write):
    """`study("--vary", ...)` on a short queue."""

    def call(*arguments: object, text: str | None = None):
        path = write() if text is None else write(text)
        return serq("study", path, *arguments)

    return call


def test_three_methods_side_by_side(study) -> None:
    done = study(*GRID, "--measure", "stage.svc.number")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0] == "program: 3 points, N = 1, 2, 3; exact, simulated, closed form"
    row = next(line.split() for line in lines if line.startswith("3  "))
    assert row[4:6] == ["27/19", "27/19"]
    assert row[-1] == "agrees"
    assert "AGREES at all 3 points, in 3 comparisons" in done.out
    assert "false alarm in the whole study: at most 0.001 (Holm, 3 tests)" in done.out


def test_the_paper_table_of_the_wait_at_utilisation_0_6(serq) -> None:
    table = {
        2: ("2", 1 / 3), 4: ("5.021020117296837", 0.6456465493698309), 8: ("11.418852017075704", 0.9144813162576311),
        16: ("24.54074988018703", 1.1259167864796376), 64: ("104.29206303864818", 1.3746036280185057),
    }  # fmt: skip
    for n, (z, wait) in table.items():
        done = serq(
            "study", "mm1n", "--vary", f"N={n}", "--vary", f"Z={z}", "--methods", "exact,closed", "--json",
            "--measure", "stage.svc.wait", "--measure", "stage.svc.utilisation",
        )  # fmt: skip
        assert done.status == 0
        (point,) = done.data["points"]
        for method in ("exact", "closed_form"):
            measures = {name: row[method]["value"] for name, row in point["measures"].items()}
            assert measures["stage.svc.wait"] == pytest.approx(wait, rel=1e-13)
            assert measures["stage.svc.utilisation"] == pytest.approx(0.6, rel=1e-13)
            assert measures["stage.svc.wait"] < 3 / 2, "the open M/M/1 at the same utilisation is a bound"


def test_points_at_which_nothing_can_be_compared(study) -> None:
    done = study("--vary", "N=1:3", "--methods", "exact,closed", "--max-states", "3", "--jobs", "1", text=QUEUE)
    assert done.status == 0
    assert "AGREES at 2 of 3 points" in done.out
    assert "exact: no answer at N = 3: " in done.out


def test_points_that_fail(study) -> None:
    done = study("--vary", "mu=2:4", "--methods", "exact", "--measure", "stage.svc.number", text=FRAGILE)
    assert done.status == 1
    assert "FAILED at mu = 3: line 5: this is no `~exp` law: its arguments must be finite" in done.out
    assert "FAILED at 2 of 3 points" in done.out


def test_csv_and_json_and_parquet_say_the_same(study, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = list(csv.DictReader(io.StringIO(study(*GRID, "--format", "csv").out)))
    data = study(*GRID, "--json").data
    assert study(*GRID, "--out", tmp_path / "t.parquet").status == 0
    table = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert len(rows) == len(table)
    for row, same in zip(rows, table, strict=True):
        point = next(p for p in data["points"] if p["values"]["N"] == int(row["N"]) == same["N"])
        answers = point["measures"][row["measure"]]
        for column, method in (("sim", "simulated"), ("exact", "exact"), ("closed", "closed_form")):
            value = answers.get(method, {}).get("value")
            assert value == same[column] == (float(row[column]) if row[column] else None)


def test_the_names_of_files_say_what_is_written(study, tmp_path: Path) -> None:
    for name, start in (("a.csv", "policy,N,"), ("a.json", "{\n"), ("a.txt", "program: 3 points")):
        assert study(*GRID, "--methods", "closed", "--out", tmp_path / name).out == ""
        assert (tmp_path / name).read_text().startswith(start)
    assert study(*GRID, "--format", "parquet").status == 2


def test_out_keeps_the_points_beside_it(study, tmp_path: Path) -> None:
    first = study(*SOLVED, "--out", tmp_path / "t.csv")
    assert first.err == ""
    table, points = (tmp_path / "t.csv").read_text(), written(tmp_path / "t.study")
    assert len(points) == 6
    again = study(*SOLVED, "--out", tmp_path / "t.csv")
    assert "6 of 6 tasks had been done before" in again.err
    assert (tmp_path / "t.csv").read_text() == table
    assert written(tmp_path / "t.study") == points
    grown = study("--vary", "N=1:4", *SOLVED[2:], "--out", tmp_path / "t.csv")
    assert "6 of 8 tasks had been done before" in grown.err


def test_another_study_is_not_mixed_in(study, tmp_path: Path) -> None:
    study(*SOLVED, "--resume", tmp_path / "d")
    points = written(tmp_path / "d")
    other = study(*SOLVED, "--resume", tmp_path / "d", "--seed", 7)
    assert other.status == 2
    assert "error[SQ823]" in other.err
    assert "its seed is not given, here it is 7" in other.err
    assert written(tmp_path / "d") == points


STOPS = """import sys, time
from serq.__main__ import main
from serq.studies import store

put, done = store.Directory.put, []

def stop(self, key, data):
    put(self, key, data)
    done.append(key)
    if len(done) == 5:
        print("five are done", flush=True)
        time.sleep(600)

store.Directory.put = stop
main()
"""
"""`serq` that stands still when five tasks are finished."""


def test_killed_half_way_it_goes_on(study, write, tmp_path: Path) -> None:
    words = ["--vary", "N=1:8", "--methods", "exact,closed", "--jobs", "2", "--json"]
    folder = tmp_path / "d"
    command = [sys.executable, "-c", STOPS, "study", str(write()), *words, "--resume", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "five are done\n"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    kept = written(folder)
    assert len(kept) == 5
    done = study(*words, "--resume", folder)
    assert (done.status, done.err) == (0, "5 of 16 tasks had been done before\n")
    after = written(folder)
    assert len(after) == 16
    assert {name: after[name] for name in kept} == kept, "nothing is computed twice"
    assert done.out == study(*words).out, "the result is that of a study which nobody ended"


def test_a_full_disk(study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from serq.studies import store

    with monkeypatch.context() as patched:
        left = [6]

        def fsync(handle: int) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, os.strerror(28))

        patched.setattr(store.os, "fsync", fsync)
        done = study(*SOLVED, "--resume", tmp_path / "d")
    assert done.status == 4
    assert "No space left on device; what was finished before is kept (2 tasks)" in done.err
    assert len(written(tmp_path / "d")) == 2
    assert "2 of 6 tasks had been done before" in study(*SOLVED, "--resume", tmp_path / "d").err


def test_policies(study) -> None:
    done = study(*SOLVED, "--policy", "N=2", "--measure", "stage.svc.number")
    assert done.status == 0
    assert "stage.svc.number: N=2 minus as written" in done.out
    other = study(*GRID, "--policy", "mm1n", "--measure", "stage.svc.number", "--methods", "exact")
    assert "stage.svc.number: mm1n minus as written" in other.out
    twice = study(*SOLVED, "--policy", "N=2", "--policy", "N=2")
    assert twice.status == 2
    assert "two policies have the same name" in twice.err


def test_pictures_and_a_page(study, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    targets = "--plot", tmp_path / "f.svg", "--html", tmp_path / "new" / "r.html"
    done = study(*SOLVED, "--measure", "stage.svc.number", *targets)
    assert done.status == 0
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")
    page = (tmp_path / "new" / "r.html").read_text()
    assert "AGREES at all 3 points" in page
    assert page.count("<img ") == 1
    nothing = study("--methods", "closed", "--html", tmp_path / "r.html")
    assert nothing.status == 2
    assert "a picture needs a constant to draw over" in nothing.err


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [(("--plot", "f.svg"), "matplotlib", "plot"), (("--html", "r.html"), "matplotlib", "plot"),
     (("--out", "t.parquet"), "pyarrow", "frames")],
)  # fmt: skip
def test_an_extra_that_is_not_installed(study, monkeypatch, words, module, extra) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    done = study(*SOLVED, *words)
    assert done.status == 2
    assert "error[SQ827]" in done.err
    assert f"needs {module}, which is not installed" in done.err
    assert f"hint: pip install 'serq[{extra}]'" in done.err


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("--methods", "exakt"), 2, "--methods takes some of exact, sim, closed, not 'exakt'"),
        (("--methods", ""), 2, "not ''"),
        (("--policy", "nowhere"), 3, "error[SQ701]"),
        (("--vary", "N="), 2, "error[SQ820]"),
        (("--format", "xml"), 2, "'xml' is not one of"),
    ],
)
def test_calls_that_are_off(study, words, status, says) -> None:
    done = study(*words)
    assert done.status == status
    assert says in done.err
