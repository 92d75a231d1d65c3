"""The event list and virtual time, by hand."""

import pytest

from serq.semantics.clocks import Clocks, Sharing
from serq.semantics.configuration import Job


def drain(clocks):
    times = []
    while (time := clocks.earliest()) is not None:
        times.append(time)
        clocks.fire()
    return times


def test_earliest_first_and_ties_in_the_order_of_setting():
    clocks, fired = Clocks(), []
    for time, name in ((2.0, "a"), (1.0, "b"), (2.0, "c"), (1.0, "d"), (0.5, "e")):
        clocks.set(time, fired.append, name)
    assert drain(clocks) == [0.5, 1.0, 1.0, 2.0, 2.0]
    assert fired == ["e", "b", "d", "a", "c"]


def test_a_clock_set_while_another_fires_comes_last_at_its_instant():
    clocks, fired = Clocks(), []
    clocks.set(1.0, lambda _: clocks.set(1.0, fired.append, "late"), None)
    clocks.set(1.0, fired.append, "early")
    drain(clocks)
    assert fired == ["early", "late"]


def test_a_cancelled_clock_does_not_fire():
    clocks, fired = Clocks(), []
    names = {name: clocks.set(1.0, fired.append, name) for name in "abc"}
    clocks.cancel(names["a"])
    clocks.cancel(names["c"])
    assert len(clocks) == 1
    assert drain(clocks) == [1.0]
    assert fired == ["b"]
    assert clocks.earliest() is None
    assert len(clocks) == 0


def job(number, work):
    return Job(number, 0, work, None)


def test_two_jobs_share_one_unit_of_rate():
    sharing = Sharing(lambda n: 1.0)
    first, second = job(1, 4.0), job(2, 1.0)
    sharing.start(0.0, first)
    assert sharing.next_finish() == 4.0
    sharing.start(2.0, second)  # first has 2 left, second 1: both at rate 1/2
    assert sharing.next_finish() == 4.0
    assert sharing.work(3.0) == 2.0
    assert sharing.finish(4.0) is second
    assert sharing.next_finish() == 5.0  # first has 1 left
    assert sharing.finish(5.0) is first
    assert sharing.next_finish() is None
    assert len(sharing) == 0


def test_the_virtual_clock_advances_before_every_change():
    """A departure counts like an arrival: else the one that stays would be served twice for the same time."""
    sharing = Sharing(lambda n: 1.0)
    jobs = [job(k, 3.0) for k in range(3)]
    for k, each in enumerate(jobs):
        sharing.start(float(k), each)
    # work left at time 2: 3 - 1 - 1/2 = 3/2, 5/2, 3
    assert sharing.next_finish() == 2.0 + 1.5 * 3
    assert sharing.finish(6.5) is jobs[0]
    assert sharing.next_finish() == 6.5 + 1.0 * 2
    assert sharing.finish(8.5) is jobs[1]
    assert sharing.next_finish() == 9.0


def test_equal_tags_finish_in_the_order_of_starting():
    sharing = Sharing(lambda n: 2.0)
    jobs = [job(k, 1.0) for k in (5, 3, 9)]
    for each in jobs:
        sharing.start(0.0, each)
    assert sharing.next_finish() == 1.5
    assert [sharing.finish(1.5) for _ in range(3)] == jobs


def test_the_rate_depends_on_the_number_present():
    sharing = Sharing(lambda n: float(n - 1))
    sharing.start(0.0, job(1, 3.0))
    assert sharing.next_finish() is None  # rate 0 with one job
    sharing.start(2.0, job(2, 3.0))
    assert sharing.next_finish() == 8.0


def test_a_job_can_leave_before_it_is_done():
    sharing = Sharing(lambda n: 1.0)
    first, second, third = job(1, 2.0), job(2, 4.0), job(3, 6.0)
    for each in (first, second, third):
        sharing.start(0.0, each)
    sharing.stop(3.0, first)  # 1, 3 and 5 left
    assert sharing.next_finish() == 9.0
    assert sharing.work(3.0) == pytest.approx(8.0)
    assert sharing.finish(9.0) is second
    assert sharing.next_finish() == 11.0
