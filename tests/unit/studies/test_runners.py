"""Who works makes no difference, and a worker that dies takes only its own task along."""

import os
import signal
from collections.abc import Mapping
from typing import Any

import pytest
from studies import plan

from serq.studies import runners
from serq.studies.encoding import Outcome
from serq.studies.grid import points
from serq.studies.plan import planned
from serq.studies.runners import in_turn, processes
from serq.studies.study import Work, study
from serq.studies.tables import study_data
from serq.studies.tasks import Task


def tasks(*vary: str) -> list[Task]:
    p = plan(*vary, methods=("closed",))
    return [point.tasks["closed"] for point in planned(p, points(p.axes))]


def test_processes_give_what_one_gives() -> None:
    p = plan("N=1:3")
    one, two = (study_data(study(p, Work(runner))) for runner in (in_turn, processes(2)))
    assert one == two


def deadly(task: Task) -> Mapping[str, Any]:
    """Ends its process for N = 3, as the system does when memory runs out."""
    if ("N", "3") in task.sets:
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome("done", how=str(os.getpid())).to_data()


def test_a_worker_that_is_killed_fails_its_task_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "work", deadly)
    found = dict((task.sets[0][1], data) for task, data in processes(2)(tasks("N=1:6")))
    assert {n: data["status"] for n, data in found.items()} == {
        n: "broken" if n == "3" else "done" for n in ("1", "2", "3", "4", "5", "6")
    }
    assert "killed" in found["3"]["reason"]
    assert str(os.getpid()) not in {data["how"] for data in found.values()}


def test_a_task_whose_worker_was_killed_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from serq.studies.store import Memory

    store = Memory()
    with monkeypatch.context() as patched:
        patched.setattr(runners, "work", deadly)
        first = study(plan("N=2:3", methods=("closed",)), Work(processes(2), store))
    assert [bool(p.faults) for p in first.points] == [False, True]
    again = study(plan("N=2:3", methods=("closed",)), Work(in_turn, store))
    assert (again.computed, again.reused) == (1, 1)
    assert again.sound
