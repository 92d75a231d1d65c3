"""How much memory this process uses, as far as the platform tells."""

import os
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")


def memory_in_use() -> int:
    """Resident bytes; where only the largest value so far is known, that; 0 where nothing is known."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return 0
    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
