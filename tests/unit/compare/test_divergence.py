"""The first difference of two recordings is found, whatever they are recordings of, and the states around it shown."""

import gzip
import json
from pathlib import Path

import pytest
from command_line import serq
from scenarios import MODELS, RECORDED

from serq.base.errors import InputError, UsageError
from serq.compare.divergence import Comparison, compare_recordings
from serq.compare.recorded import read_recording

HEADER = "session,turn,sent,reached,first,done,prompt,cached,out,preemptions\n"
REQUESTS = HEADER + "a,1,0.0,0.1,1.0,2.0,5,0,3,0\nb,1,0.5,0.6,1.5,3.0,7,0,3,0\na,2,4.0,4.1,5.0,6.0,9,4,3,0\n"
STEPS = (
    "start,end,scheduled,hits,victims\n"
    "0.0,1.0,a.1:5,a.1:0,\n1.0,2.0,a.1:1 b.1:7,b.1:0,\n2.0,3.0,a.1:1 b.1:1,,b.1\n3.0,4.0,a.1:1,,\n"
)


def file_of(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def only(left: Path, right: Path, **options: float) -> Comparison:
    (result,) = compare_recordings(read_recording(left), read_recording(right), **options)
    return result


def test_equal_recordings_are_the_same(tmp_path: Path) -> None:
    one, other = (
        file_of(tmp_path, REQUESTS, "a.csv"),
        file_of(tmp_path, REQUESTS.replace("1.5", "1.50000000001"), "b.csv"),
    )
    assert only(one, other).divergence is None
    assert only(one, other, tolerance=1e-15).divergence is not None


def test_the_first_request_is_the_one_at_which_the_runs_part_in_time(tmp_path: Path) -> None:
    """Request a.2 stands behind b.1 in the file; b.1 differs at 1.5, a.2 at 5, a.1 in what it hit, at 1."""
    changed = REQUESTS.replace("4.1,5.0", "4.1,5.5").replace("0.6,1.5", "0.6,1.75").replace("5,0,3,0\nb", "5,2,3,0\nb")
    result = only(file_of(tmp_path, REQUESTS, "a.csv"), file_of(tmp_path, changed, "b.csv"))
    found = result.divergence
    assert found is not None
    assert (found.what, found.time, found.total) == ("request a.1", 1.0, 3)
    assert [(d.column, d.left, d.right) for d in found.differences] == [("cached", 0.0, 2.0)]
    assert [(row["session"], row["turn"]) for row in found.left] == [("a", 1.0), ("b", 1.0)]  # under way at time 1
    assert found.place == (0, 0)


def test_a_request_that_one_side_lacks(tmp_path: Path) -> None:
    shorter = "".join(line for line in REQUESTS.splitlines(keepends=True) if not line.startswith("b"))
    found = only(file_of(tmp_path, REQUESTS, "a.csv"), file_of(tmp_path, shorter, "b.csv")).divergence
    assert found is not None
    assert (found.what, found.place[1], found.differences) == ("request b.1", None, ())
    found = only(file_of(tmp_path, shorter, "a.csv"), file_of(tmp_path, REQUESTS, "b.csv")).divergence
    assert found is not None
    assert (found.what, found.place[0]) == ("request b.1", None)


@pytest.mark.parametrize(
    ("old", "new", "column", "place"),
    [
        ("a.1:1 b.1:7", "b.1:7 a.1:1", "scheduled", 2),
        ("a.1:1 b.1:7", "a.1:1 b.1:8", "scheduled", 2),
        ("b.1:0,", "b.1:16,", "hits", 2),
        (",,b.1", ",,a.1", "victims", 3),
        ("3.0,4.0", "3.0,4.5", "end", 4),
    ],
)
def test_the_first_step(tmp_path: Path, old: str, new: str, column: str, place: int) -> None:
    other = file_of(tmp_path, STEPS.replace(old, new), "b.csv")
    found = only(file_of(tmp_path, STEPS, "a.csv"), other, context=1).divergence
    assert found is not None
    assert found.what == f"step {place}"
    assert [d.column for d in found.differences] == [column]
    assert found.left[found.place[0] or 0]["start"] == place - 1.0
    assert len(found.left) == len(found.right) <= 3


def test_steps_with_other_names_are_matched_by_the_order_of_scheduling(tmp_path: Path) -> None:
    renamed = STEPS.replace("a.1", "r9").replace("b.1", "r10")
    result = only(file_of(tmp_path, STEPS, "a.csv"), file_of(tmp_path, renamed, "b.csv"))
    assert result.divergence is None
    assert "order in which they were first scheduled" in result.remark
    swapped = renamed.replace(",,r10", ",,r9")
    found = only(file_of(tmp_path, STEPS, "a.csv"), file_of(tmp_path, swapped, "b.csv")).divergence
    assert found is not None
    assert (found.what, [d.column for d in found.differences]) == ("step 3", ["victims"])


def test_one_more_step(tmp_path: Path) -> None:
    longer = STEPS + "4.0,5.0,a.1:1,,\n"
    found = only(file_of(tmp_path, STEPS, "a.csv"), file_of(tmp_path, longer, "b.csv")).divergence
    assert found is not None
    assert (found.what, found.place[0], found.time) == ("step 5", None, 4.0)


def test_packed_files_and_parquet(tmp_path: Path) -> None:
    from pyarrow import csv, parquet

    plain = file_of(tmp_path, REQUESTS, "a.csv")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(REQUESTS.encode()))
    parquet.write_table(csv.read_csv(plain), tmp_path / "c.parquet")
    assert only(plain, tmp_path / "b.csv.gz").divergence is None
    assert only(plain, tmp_path / "c.parquet").divergence is None


def test_a_dump_against_a_recorded_scenario_of_the_scheduler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shipped requests are those of one scenario: the dump agrees with its recording, and with no changed one."""
    serq(capsys, "replay", MODELS / "vllm_request.sq", "--dump", tmp_path / "run")
    recording = RECORDED / "resume_full_isl.json"
    done = serq(capsys, "diff", tmp_path / "run", recording)
    assert (done.status, "the same" in done.out) == (0, True)
    scenario = json.loads(recording.read_text())
    scenario["steps"][51]["sched"][0][1] += 1
    changed = file_of(tmp_path, json.dumps(scenario), "changed.json")
    done = serq(capsys, "diff", tmp_path / "run", changed)
    assert done.status == 1
    assert "1 rows differ; the first is step 52, at time 51.0" in done.out
    assert "scheduled" in done.out
    assert done.out.count("\n>") == 2  # the state of both sides, the step marked
    as_json = json.loads(serq(capsys, "diff", tmp_path / "run", changed, "--json").out)
    (comparison,) = as_json["comparisons"]
    assert comparison["divergence"]["what"] == "step 52"


def test_two_dumps_of_one_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, blocks in (("one", 15), ("other", 14)):
        serq(capsys, "replay", MODELS / "vllm_request.sq", "--dump", tmp_path / name, "--set", f"blocks={blocks}")
    done = serq(capsys, "diff", tmp_path / "one", tmp_path / "other")
    assert done.status == 1
    steps, requests = done.out.split("\nrequests: ")
    assert steps.startswith("steps: ")
    assert "rows differ; the first is request" in requests
    assert serq(capsys, "diff", tmp_path / "one", tmp_path / "one").status == 0


def test_dumps_of_observations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("one", 1), ("other", 2), ("again", 1)):
        serq(capsys, "run", "mm1n", "--horizon", "50", "--warmup", "0", "--seed", seed, "--dump", tmp_path / name)
    done = serq(capsys, "diff", tmp_path / "one", tmp_path / "other")
    assert done.status == 1
    assert "observation of response 1" in done.out
    assert serq(capsys, "diff", tmp_path / "one", tmp_path / "again").status == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [("", "x.csv"), ("a,b\n1,2\n", "x.csv"), ("[]", "x.json"), ("{", "x.json"), (HEADER + "a,1\n", "x.csv"),
     (HEADER + "a,1,x,0.1,1.0,2.0,5,0,3,0\n", "x.csv")],
)  # fmt: skip
def test_what_is_no_recording(tmp_path: Path, text: str, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read_recording(file_of(tmp_path, text, name))
    assert caught.value.code == "SQ721"
    with pytest.raises(InputError) as caught:
        read_recording(tmp_path / "none")
    assert caught.value.code == "SQ720"


def test_an_empty_directory_and_things_that_cannot_be_compared(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError):
        read_recording(tmp_path / "empty")
    requests, steps = file_of(tmp_path, REQUESTS, "a.csv"), file_of(tmp_path, STEPS, "b.csv")
    with pytest.raises(UsageError, match="nothing to compare"):
        only(requests, steps)
