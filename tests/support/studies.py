"""Small studies for tests."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from serq.base.source import SourceFile
from serq.pipeline import SimulateOptions
from serq.studies.grid import parse_axis
from serq.studies.plan import Plan, Policy

QUEUE = """let N = 3; let mu = 1; let Z = 2;
stage svc : fifo;
stage think : delay;
workload { arrive closed(N); }
session { loop { set t0 = now; run svc (~exp(1 / mu)); observe response = now - t0; run think (~exp(Z)); } }
run { horizon 400; warmup 20; seed 1; }
"""
"""M/M/1//N, short."""

FRAGILE = QUEUE.replace("~exp(1 / mu)", "~exp(1 / (3 - mu))")
"""Does not load where mu is 3 or more."""


def policy(text: str = QUEUE, label: str = "queue", **sets: str) -> Policy:
    """A policy of a program text."""
    return Policy(label, SourceFile(f"{label}.sq", text), tuple(sets.items()))


def plan(*vary: str, text: str = QUEUE, **changes: object) -> Plan:
    """A plan over the axes, two replications."""
    simulation = SimulateOptions(replications=2, engine="reference")
    plain = Plan((policy(text),), tuple(parse_axis(v) for v in vary), simulation=simulation)
    return replace(plain, **changes)


_HOLD = """import json, pathlib, sys
from serq.studies.store import Directory
folder = pathlib.Path(sys.argv[1])
head = json.loads((folder / "study.json").read_text())
head.pop("schema")
with Directory(folder, head):
    print("mine", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Another process works on the study in the folder."""
    command = [sys.executable, "-c", _HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "mine\n"
        yield
        process.stdin.close()


def written(folder: Path) -> dict[str, int]:
    """The finished points of a study directory, with the times at which they were written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "points").glob("*.json")}
