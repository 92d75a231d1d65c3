"""How much memory this process uses, as far as the platform tells."""

import os
import sys
from pathlib import Path

from serq.base.errors import LimitError
from serq.ir import program as p

SESSION_BYTES = 1024
"""What a session takes at least in the reference interpreter."""
_STATM = Path("/proc/self/statm")
_CONFINED = Path("/sys/fs/cgroup/memory.max")
_UNKNOWN = 64 << 30


def memory_of_machine() -> int:
    """Bytes of the machine, or of the control group that this process is confined to; 64 GiB where nothing is known."""
    known = [_UNKNOWN]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    limit = _CONFINED.read_text().strip() if _CONFINED.exists() else ""
    return min([*known, int(limit)] if limit.isdigit() else known)


def memory_in_use() -> int:
    """Resident bytes; where only the largest value so far is known, that; 0 where nothing is known."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return 0
    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def check_population(program: p.Program, memory: int | None, session_bytes: int = SESSION_BYTES) -> None:
    """LimitError when the sessions that are there at time 0 cannot fit into so many bytes (None: a quarter of the
    machine's), which is known before anything is made of them.
    """
    if not isinstance(program.arrivals, p.Closed | p.Batch):
        return
    arrivals = program.arrivals
    sessions = p.whole(arrivals.population if isinstance(arrivals, p.Closed) else arrivals.size)
    allowed = memory_of_machine() // 4 if memory is None else memory
    needed = sessions * session_bytes
    if needed > allowed:
        raise LimitError(
            f"{sessions} sessions at time 0 take {needed >> 20} MiB of memory at least, "
            f"and {allowed >> 20} MiB are allowed"
        )
