"""Replications: the same results however they are spread, and errors that find their way back."""

import multiprocessing
import os
import signal
import time

import pytest
from running import options, program_of

from serq.base.errors import LimitError, RunError, UsageError
from serq.semantics import replications
from serq.semantics.reference import simulate
from serq.semantics.replications import replicate

TEXT = """stage svc : fifo; stage think : delay; workload { arrive closed(4); }
session { loop { set t0 = now; run svc (~exp(1)); observe r = now - t0; run think (~exp(4)); } } run { horizon 400; }"""


def plain(results):
    return [(r.replication, r.series, {n: s.values.tolist() for n, s in r.samples.items()}, r.events) for r in results]


def test_results_do_not_depend_on_the_number_of_processes():
    program = program_of(TEXT)
    settings = options(program, checked=False)
    alone = plain(replicate(program, settings, 5))
    assert alone == plain(replicate(program, settings, 5, jobs=2)) == plain(replicate(program, settings, 5, jobs=9))
    assert alone == plain(simulate(program, settings, k) for k in range(5))
    assert len({str(r[2]) for r in alone}) == 5


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_reaches_the_end(jobs):
    program = program_of(TEXT)
    parts = []
    replicate(program, options(program, checked=False), 3, jobs, parts.append)
    assert parts == sorted(parts)
    if jobs > 1:
        assert parts == pytest.approx([1 / 3, 2 / 3, 1])


def test_an_error_of_the_program_comes_back_whole():
    text = TEXT.replace("~exp(4)", "~exp(200 - now)")
    program = program_of(text)
    raised = []
    for jobs in (1, 2):
        with pytest.raises(RunError) as caught:
            replicate(program, options(program, checked=False), 3, jobs)
        raised.append(caught.value)
    assert raised[0].diagnostics == raised[1].diagnostics
    assert str(raised[0]) == str(raised[1])
    assert raised[1].source == program.source


def test_an_interrupt_ends_the_processes():
    program = program_of(TEXT.replace("horizon 400", "horizon 1e9"))
    before = set(multiprocessing.active_children())

    def interrupt(*_):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            replicate(program, options(program, checked=False), 2, jobs=2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    for child in set(multiprocessing.active_children()) - before:
        # Not `child.join()`: the pool's own thread may be collecting the process at the same moment, and then
        # neither of the two is told in time that it has ended.
        assert ends_within(child.pid, 10)


def ends_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        multiprocessing.active_children()  # collects the children that have ended
        time.sleep(0.01)
    return False


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_an_error_and_no_hang(monkeypatch):
    monkeypatch.setattr(replications, "_one", die)
    program = program_of(TEXT)
    with pytest.raises(LimitError, match="killed"):
        replicate(program, options(program), 2, jobs=2)


def test_at_least_one_replication():
    program = program_of(TEXT)
    with pytest.raises(UsageError, match="at least one replication"):
        replicate(program, options(program), 0)
