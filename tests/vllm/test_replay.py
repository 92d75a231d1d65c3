"""The shipped replica replays recorded agent sessions as the real vLLM scheduler did, request for request."""

import csv
import gzip
import io
import math
from itertools import zip_longest
from pathlib import Path

import pytest
from command_line import serq
from shared_data import shared

from serq.codegen import jit

MODEL = Path(__file__).parents[2] / "models" / "serving" / "vllm_replay.sq"

RUNS = {
    "A_s3.5": ("agent_sessions_333.csv", {"spacing": 3.5}),
    "B40_s3.5_b3000": ("agent_sessions_333.csv", {"spacing": 3.5, "blocks": 3000, "sessions": 40}),
    "C40_s1.0_b2500_B1024": ("agent_sessions_333.csv", {"spacing": 1.0, "blocks": 2500, "B": 1024, "sessions": 40}),
    "E40x60_s3.5_b2000": ("agent_sessions_40_out60x.csv", {"spacing": 3.5, "blocks": 2000}),
}
"""Recorded run -> its trace and constants. The number of sessions follows from the trace unless it is cut."""


def arguments(name: str) -> list[str]:
    trace, sets = RUNS[name]
    chosen = [word for constant, value in sets.items() for word in ("--set", f"{constant}={value}")]
    return ["replay", str(MODEL), "--trace", str(shared("traces", trace)), *chosen]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("name", RUNS)
def test_every_request_is_served_as_recorded(name: str, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = rows_of(shared("vectors", "vllm_replay", f"{name}.csv").read_text())
    if engine == "compiled" and not jit.available():
        pytest.skip("needs llvmlite")
    done = serq(capsys, *arguments(name), "--engine", engine)
    assert f"engine: {engine}" in done.err
    ours = rows_of(done.out)
    assert done.status == 0
    assert [list(row) for row in ours[:1]] == [list(row) for row in recorded[:1]]
    for mine, theirs in zip_longest(ours, recorded, fillvalue={}):
        for column in ("session", "turn", "prompt", "cached", "out", "preemptions"):
            assert mine[column] == theirs[column], (theirs["session"], theirs["turn"], column)
        for column in ("sent", "reached", "first", "done"):
            assert math.isclose(float(mine[column]), float(theirs[column]), rel_tol=1e-9), (theirs, column)


def test_the_mean_time_to_the_first_token_is_the_recorded_one(capsys: pytest.CaptureFixture[str]) -> None:
    err = serq(capsys, *arguments("A_s3.5")).err
    assert "3321 requests, 3321 of them done" in err
    assert "0.408145733778" in err


def test_every_iteration_is_the_recorded_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = shared("vectors", "vllm_replay", "A_s3.5.iters.csv.gz")
    recorded = rows_of(gzip.decompress(path.read_bytes()).decode())
    serq(capsys, *arguments("A_s3.5"), "--dump", tmp_path, "--quiet")
    ours = rows_of((tmp_path / "steps.csv").read_text())
    shared_columns = [name for name in recorded[0] if name in ours[0]]
    assert shared_columns == ["start", "end", "ndec", "kvb", "npre", "attn", "admitted", "preempted"]
    for mine, theirs in zip_longest(ours, recorded, fillvalue={}):
        assert all(float(mine[c]) == float(theirs[c]) for c in shared_columns), (mine, theirs)


def test_every_preemption_and_resumption_is_the_recorded_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = rows_of(shared("vectors", "vllm_replay", "E40x60_s3.5_b2000.events.csv").read_text())
    serq(capsys, *arguments("E40x60_s3.5_b2000"), "--dump", tmp_path, "--quiet")
    preempted, hits = [], []
    for row in rows_of((tmp_path / "steps.csv").read_text()):
        preempted += [(float(row["start"]), name) for name in row["victims"].split()]
        hits += [(float(row["start"]), *hit.split(":")) for hit in row["hits"].split()]
    assert len(preempted) == 11
    assert preempted == [(float(e["time"]), e["request"]) for e in events if e["event"] == "preempt"]
    assert hits == [(float(e["time"]), e["request"], e["hit_or_known"]) for e in events if e["event"] != "preempt"]
