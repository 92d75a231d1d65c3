"""A study on a real cluster: a scheduler and two workers in processes of their own, one of them killed half-way."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from studies import plan

from serq.studies.cluster import ClusterError, cluster
from serq.studies.grid import points
from serq.studies.plan import planned
from serq.studies.store import Directory
from serq.studies.study import Work, study
from serq.studies.tables import study_data
from serq.studies.tasks import work

pytest.importorskip("distributed")
SCHEDULER = (sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
WORKER = (sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")


@dataclass
class Cluster:
    """Processes on this machine."""

    folder: Path
    processes: list["subprocess.Popen[bytes]"]

    @property
    def address(self) -> str:
        return json.loads((self.folder / "scheduler.json").read_text())["address"]

    def start(self, command: tuple[str, ...]) -> "subprocess.Popen[bytes]":
        words = [*command, "--no-dashboard", "--scheduler-file", str(self.folder / "scheduler.json")]
        nothing = subprocess.DEVNULL
        self.processes.append(subprocess.Popen(words, cwd=self.folder, stdout=nothing, stderr=nothing))
        return self.processes[-1]


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    from distributed import Client

    found = Cluster(tmp_path, [])
    try:
        found.start(SCHEDULER)
        with Client(scheduler_file=str(tmp_path / "scheduler.json"), timeout=120, set_as_default=False):
            pass
        yield found
    finally:
        for process in found.processes:
            process.kill()
            process.wait()


def long_plan(points: str = "N=1:10"):
    """Tasks that take a moment each."""
    p = plan(points, methods=("sim",))
    return replace(p, simulation=replace(p.simulation, horizon=4000.0))


def test_a_worker_that_is_killed_half_way_loses_nothing(local: Cluster, tmp_path: Path) -> None:
    workers = [local.start(WORKER) for _ in range(2)]
    from distributed import Client

    with Client(local.address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)
    p = long_plan()
    done = []

    def progress(number: int, of: int) -> None:
        done.append((number, of))
        if number == 2:
            workers[0].send_signal(signal.SIGKILL)

    with Directory(tmp_path / "d", p.identity()) as store:
        found = study(p, Work(cluster(local.address), store, progress))
    assert workers[0].wait() == -signal.SIGKILL
    assert workers[1].poll() is None
    assert done == [(k, 10) for k in range(1, 11)]
    assert (found.computed, found.reused) == (10, 0)
    assert study_data(found) == study_data(study(p)), "the answers are those of one process"


def test_nobody_left_to_work(local: Cluster) -> None:
    p = long_plan("N=2")
    with pytest.raises(ClusterError, match="has no workers") as caught:
        study(p, Work(cluster(local.address, patience=0.5)))
    assert caught.value.code == "SQ826"


def test_a_scheduler_that_goes_away(local: Cluster) -> None:
    local.start(WORKER)
    runner = cluster(local.address, patience=60)
    p = long_plan()
    answers = runner([task for point in planned(p, points(p.axes)) for task in point.tasks.values()])
    next(answers)
    local.processes[0].kill()
    with pytest.raises(ClusterError, match="went away"):
        list(answers)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "tcp://127.0.0.1:99999", "tcp://:1"])
def test_nobody_answers(address: str) -> None:
    with pytest.raises(ClusterError) as caught:
        study(plan("N=1", methods=("closed",)), Work(cluster(address, patience=2)))
    assert caught.value.code == "SQ826"
    assert caught.value.exit_status == 2


def test_a_worker_of_another_version_computes_nothing() -> None:
    p = plan("N=1", methods=("closed",))
    (point,) = planned(p, points(p.axes))
    data = work(replace(point.tasks["closed"], version="0.0.1"))
    assert data["status"] == "broken"
    assert "0.0.1" in str(data["reason"])
