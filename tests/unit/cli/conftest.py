"""The command line as a function, and as a process where that matters (signals, pipes, terminals)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from serq.cli.failures import run_and_report
from serq.cli.main import cli

QUEUE = """let N = 3;
stage svc : fifo;
stage think : delay;
workload { arrive closed(N); }
session { loop { set t0 = now; run svc (~exp(1)); observe response = now - t0; run think (~exp(2)); } }
run { horizon 200; warmup 10; seed 1; }
"""


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Its output as strict JSON: NaN and infinity are no JSON."""
        return json.loads(self.out, parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@pytest.fixture
def serq(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """`serq("run", path)` in this process."""

    def call(*arguments: object) -> Done:
        capsys.readouterr()
        status = run_and_report(cli, [str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Done(status, out, err)

    return call


@pytest.fixture
def process() -> Callable[..., Done]:
    """`process("run", path)` in a process of its own; `stdout` and `env` as for subprocess."""

    def call(*arguments: object, env: dict[str, str] | None = None, **more: Any) -> Done:
        command = [sys.executable, "-m", "serq", *map(str, arguments)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        done = subprocess.run(command, text=True, env=os.environ | (env or {}), timeout=120, check=False, **streams)
        return Done(done.returncode, done.stdout or "", done.stderr or "")

    return call


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """`write(text)` makes a program file and returns its path."""

    def make(text: str | bytes = QUEUE, name: str = "program.sq") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make
