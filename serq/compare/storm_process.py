"""The parent's side of Storm: starts the worker, keeps the time, and survives whatever happens in it."""

import contextlib
import importlib.metadata
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from serq.base.errors import SerqError

Message = Mapping[str, Any]

LOADING_SECONDS = 120.0
"""Time for the worker to import Storm; a second is usual."""


class StormError(SerqError):
    """Storm cannot be used, refuses the model or a property, or has no trustworthy answer."""


def storm_version() -> str:
    """The version of stormpy. Raises StormError when it is missing, or not of the 2.x line whose names we use."""
    try:
        version = importlib.metadata.version("stormpy")
    except importlib.metadata.PackageNotFoundError:
        raise StormError("Storm's Python package is not installed: pip install 'stormpy>=2.0'") from None
    if version.split(".")[0] != "2":
        raise StormError(f"stormpy {version} is installed, and serQ speaks to stormpy 2.x: pip install 'stormpy>=2.0'")
    return version


def run_jobs(jobs: Sequence[Message], *, timeout: float, memory: int) -> list[Message]:
    """One message per job, in order; a job that kills the process fails alone, and the rest get a new process.

    `timeout`: wall-clock seconds per job. `memory`: bytes of address space. A failure is `{"ok": False, "kind":
    "error" | "timeout" | "memory" | "crash", "error": text}`. Raises StormError when the worker does not start.
    """
    storm_version()
    done: list[Message] = []
    while len(done) < len(jobs):
        done += _run_process(jobs[len(done) :], timeout, memory)
    return done


def _run_process(jobs: Sequence[Message], timeout: float, memory: int) -> list[Message]:
    """The messages that one process gives before it ends or is ended; at least one."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as request, tempfile.TemporaryFile() as noise:
        json.dump({"memory": memory, "jobs": list(jobs)}, request)
        request.seek(0)
        with _worker(request, noise) as process:
            assert process.stdout is not None
            lines = _Lines(process.stdout)
            if lines.next(LOADING_SECONDS) is None:
                raise StormError(f"the process for Storm does not start: {_tail(noise)}")
            done: list[Message] = []
            for _ in jobs:
                line = lines.next(timeout)
                if line is None:
                    return [*done, _failure(process, lines.late, timeout, noise)]
                done.append(json.loads(line))
            return done


@contextlib.contextmanager
def _worker(request: IO[str], noise: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The worker, in its own session: Ctrl-C goes to us, and we end it whatever the reason."""
    process = subprocess.Popen(
        [sys.executable, "-m", "serq.compare.storm_worker"],
        stdin=request,
        stdout=subprocess.PIPE,
        stderr=noise,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


class _Lines:
    """Lines of a pipe, each with a deadline. `late`: the last one did not come in time."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.late = False
        self._fd = pipe.fileno()
        self._buffer = b""

    def next(self, seconds: float) -> bytes | None:
        """The next line, or None when the pipe has ended or the time is over."""
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._fd, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.late = True
                    return None
                piece = os.read(self._fd, 1 << 16)
                if not piece:
                    return None
                self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def _failure(process: subprocess.Popen[bytes], late: bool, timeout: float, noise: IO[bytes]) -> Message:
    if late:
        return {"ok": False, "kind": "timeout", "error": f"no answer within {timeout:g} s"}
    return {"ok": False, "kind": "crash", "error": f"Storm died (status {process.wait()}): {_tail(noise)}"}


def _tail(noise: IO[bytes]) -> str:
    """The last line of what the process said, for an error message."""
    noise.seek(0)
    lines = noise.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
