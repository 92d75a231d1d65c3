"""The shipped replica replays recorded sessions as the real vLLM scheduler did, to the last bit of every time."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from serq.pipeline import load
from serq.semantics.options import options_of
from serq.semantics.reference import simulate

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
MODEL = ROOT / "models" / "serving" / "vllm_replay.sq"


@pytest.mark.parametrize(
    ("recorded", "trace", "sessions", "spacing", "blocks", "budget"),
    [
        ("A_s3.5.csv", "agent_sessions_333.csv", 333, "3.5", 8010, 512),
        ("B40_s3.5_b3000.csv", "agent_sessions_333.csv", 40, "3.5", 3000, 512),
        ("C40_s1.0_b2500_B1024.csv", "agent_sessions_333.csv", 40, "1.0", 2500, 1024),
        ("E40x60_s3.5_b2000.csv", "agent_sessions_40_out60x.csv", 40, "3.5", 2000, 512),
    ],
)
def test_every_request_is_served_as_recorded(
    recorded: str, trace: str, sessions: int, spacing: str, blocks: int, budget: int
) -> None:
    overrides = {"sessions": str(sessions), "spacing": spacing, "blocks": str(blocks), "B": str(budget)}
    program = load(MODEL, overrides).program
    options = replace(options_of(program, horizon=1e6), keep_samples=True, trace=str(SHARED / "traces" / trace))
    samples = simulate(program, options).samples
    ours = {
        name: dict(zip(zip(s.sessions, s.turns, strict=True), s.values, strict=True)) for name, s in samples.items()
    }
    with (SHARED / "vectors" / "vllm_replay" / recorded).open() as file:
        rows = list(csv.DictReader(file))
    theirs = {(int(row["session"]), int(row["turn"])): row for row in rows}
    assert ours["ttft"] == {key: float(row["first"]) - float(row["sent"]) for key, row in theirs.items()}
    assert ours["response"] == {key: float(row["done"]) - float(row["sent"]) for key, row in theirs.items()}
    assert ours["hit"] == {key: float(row["cached"]) for key, row in theirs.items()}
