"""Worker processes that do not outlive those who wait for them, and whose death is noticed."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

_LOOK = 0.5
"""Seconds between two looks at whether the parent is still there."""


@contextmanager
def worker_processes(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """So many processes, ended at once when an error or an interrupt leaves the block. One that dies breaks the pool
    (`BrokenProcessPool`).
    """
    before = set(multiprocessing.active_children())
    method = "fork" if sys.platform == "linux" else "spawn"
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context(method), initializer=_begin)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - before:
            worker.terminate()
        raise


def _begin() -> None:
    """Signals are the parent's business, and a parent that is gone, however it was ended, needs no answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.pid,), daemon=True).start()


def _end_with(parent: int | None) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)
