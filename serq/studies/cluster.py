"""A study on many machines: its tasks go to the workers of a dask cluster, the answers come back to this process.

Workers need serQ of the same version and nothing else: no files are shared. A worker that dies loses the task that it
was at, and the scheduler gives it to another one.
"""

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from serq.base.source import NOWHERE
from serq.studies.encoding import Outcome
from serq.studies.errors import MissingExtra, NoScheduler
from serq.studies.grid import GridError
from serq.studies.runners import Done, Runner
from serq.studies.tasks import Task, work

PATIENCE = 30.0
"""Seconds to wait for a scheduler that does not answer, and for a first or a new worker."""
_LOOK = 1.0
_START = "start them with `dask scheduler` and `dask worker ADDRESS`, where serQ is installed"
_AGAIN = "with --resume DIR the same command goes on with what is missing"


class ClusterError(GridError):
    """A cluster that cannot do the work."""

    exit_status = 2


def need_dask() -> None:
    """GridError (SQ827) where dask.distributed is not installed."""
    try:
        import distributed
    except ImportError:
        raise GridError.of(MissingExtra(span=NOWHERE, what="--dask", package="distributed", extra="dask")) from None
    del distributed


def cluster(address: str, patience: float = PATIENCE) -> Runner:
    """The workers of the scheduler at an address such as `tcp://10.0.0.1:8786`.

    The runner raises ClusterError (SQ826) when nobody answers, when there is no worker, and when the scheduler or all
    of its workers are gone for longer than `patience`.
    """

    def run(tasks: Sequence[Task]) -> Iterator[Done]:
        if tasks:
            need_dask()
            yield from _Client(address, patience).run(tasks)

    return run


class _Client:
    """A connection to a scheduler, for one batch of tasks."""

    def __init__(self, address: str, patience: float) -> None:
        self.address = address
        self.patience = patience

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        client = self._connected()
        try:
            yield from self._followed(client, tasks)
        finally:
            with suppress(Exception):  # a scheduler that is gone cannot be taken leave of
                client.close(timeout=2)

    def _connected(self) -> Any:
        import distributed

        self._knock()
        try:
            library: Any = distributed
            client = library.Client(self.address, timeout=self.patience, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise self._error("does not answer", _START) from error
        try:
            client.wait_for_workers(1, timeout=self.patience)
        except TimeoutError as error:
            client.close(timeout=2)
            raise self._error("has no workers", _START) from error
        return client

    def _knock(self) -> None:
        """Find out at once where nobody listens: the client would try on and on."""
        host, _, port = self.address.rpartition("://")[2].rpartition(":")
        if not host or not port.isdigit():
            raise self._error("has no such address: it is HOST:PORT", "the scheduler prints it when it starts")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=self.patience).close()
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise self._error(f"does not answer ({reason})", _START) from error

    def _followed(self, client: Any, tasks: Sequence[Task]) -> Iterator[Done]:
        """The answers as they come."""
        import distributed

        wait: Any = distributed.wait
        waiting = {client.submit(work, task, key=f"serq-{task.key}"): task for task in tasks}
        alone_since: float | None = None
        while waiting:
            try:
                with client.as_current():
                    done = wait(list(waiting), timeout=_LOOK, return_when="FIRST_COMPLETED").done
                alone_since = None
            except TimeoutError:
                done = set()
                alone_since = self._still_there(client, alone_since)
            except Exception as error:  # futures are cancelled with the connection
                raise self._error("went away", _AGAIN) from error
            for future in done:
                yield waiting.pop(future), self._answer(future)

    def _still_there(self, client: Any, alone_since: float | None) -> float | None:
        """Since when there have been no workers; ClusterError when that is too long, or the scheduler is gone."""
        if client.status != "running":
            raise self._error("went away", _AGAIN)
        if client.scheduler_info()["workers"]:
            return None
        since = time.monotonic() if alone_since is None else alone_since
        if time.monotonic() - since > self.patience:
            raise self._error("has lost all its workers", _AGAIN)
        return since

    def _answer(self, future: Any) -> dict[str, object]:
        if future.status == "finished":
            answer: dict[str, object] = future.result()
            return answer
        if future.status in ("cancelled", "lost"):
            raise self._error("went away", _AGAIN)
        error = future.exception()
        name = type(error).__name__
        reason = "its workers were killed, one after the other" if name == "KilledWorker" else f"{name}: {error}"
        return Outcome("broken", reason).to_data()

    def _error(self, problem: str, advice: str) -> GridError:
        return ClusterError.of(NoScheduler(span=NOWHERE, address=self.address, problem=problem, advice=advice))
