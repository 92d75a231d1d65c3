"""Ctrl-C: status 130 within a second, one line, no traceback, and no process left behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENDLESS = """stage d : delay;
workload { arrive closed(1); }
session { set k = 0; loop { set k = k + 1; run d (~exp(1)); observe x = k; } }
run { horizon 1e9; }
"""
"""Runs for hours, and has states without end."""

COMMANDS = {
    "run": ("run",),
    "replications": ("run", "--replications", "4", "--jobs", "2"),
    "check": ("check", "--max-states", "50", "--jobs", "2"),
    "explain": ("explain", "--max-states", "1000000000"),
    "solve": ("solve", "--max-states", "1000000000"),
    "export": ("export", "--drn", "--max-states", "1000000000"),
}
TRIES = 3
"""The best of so many counts."""


def a_second() -> float:
    """A second of a machine that does nothing else; longer where more processes want to run than there are cores."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def interrupt(path: Path, *command: str) -> tuple[int, str, str, float]:
    """Start it, wait until it works, press Ctrl-C: status, stdout, stderr, seconds until the end."""
    process = started(path, *command)
    try:
        _until_busy(process)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        seconds = time.monotonic() - start
        _gone(process.pid)
    finally:
        _kill(process.pid)
    return process.returncode, out, err, seconds


def started(path: Path, *command: str) -> subprocess.Popen[str]:
    """The command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "serq", *command, str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def _until_busy(process: subprocess.Popen[str]) -> None:
    """Wait until the process, or its workers, have done more than start."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "it ended by itself"
        workers = _children(process.pid)
        if _used(process.pid) > 1.5 or (len(workers) == 2 and all(_used(int(w)) > 0.2 for w in workers)):
            return
        time.sleep(0.05)
    raise AssertionError("it does not get to work")


def _used(pid: int) -> float:
    """Seconds of processor time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _gone(group: int) -> None:
    """No process of the group is left: a worker may need a moment to end."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("a worker process outlives its parent")


def _kill(group: int) -> None:
    """Leave nothing behind, whatever went wrong."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c(write, name) -> None:
    path = write(ENDLESS)
    for _ in range(TRIES):
        status, out, err, seconds = interrupt(path, *COMMANDS[name])
        assert (status, out, err) == (130, "", "serq: interrupted\n")
        if seconds < a_second():
            return
    raise AssertionError(f"the end took {seconds:.1f} s")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_c_in_json(write) -> None:
    status, out, err, _ = interrupt(write(ENDLESS), "run", "--json")
    assert (status, err) == (130, "")
    assert json.loads(out)["error"] == {"kind": "Interrupted", "message": "interrupted", "exit_status": 130}


def test_ctrl_c_while_the_program_is_still_being_imported() -> None:
    code = (
        "import sys, importlib.abc\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'serq.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from serq.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "serq: interrupted\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_terminated_run_takes_its_workers_along(write) -> None:
    process = started(write(ENDLESS), *COMMANDS["replications"])
    try:
        _until_busy(process)
        process.terminate()
        process.communicate(timeout=20)
        assert process.returncode == 143
        _gone(process.pid)
    finally:
        _kill(process.pid)
