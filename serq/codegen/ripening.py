"""Machine code that is made in a hurry, and made again with care when it turns out to be worth it.

LLVM takes ten times as long to optimise a simulator as to spell it out, and the code is then three times as fast: a
short run is over before that pays. So a program that is new is compiled without optimisation. Once it has run for about
as long as optimising takes, it is optimised, and the next call is to the better code. At the worst this costs twice the
best that could have been done (the ski rental problem: Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy
caching", Algorithmica 3, 1988). Both codes do the same arithmetic on the same records, so no result depends on when it
happens.
"""

import threading
from time import thread_time
from typing import Any

from serq.codegen.build import Build
from serq.codegen.compiled import Compiled

QUICK = 0
CAREFUL = 2
_SECONDS_A_BYTE = 12e-6
"""What it takes to optimise, for each byte of the unoptimised code: 0.3 s for a queue, a second for a vLLM replica."""


class Ripening:
    """A program that can be called as a `Compiled` can, by several threads at once."""

    def __init__(self, quick: Compiled, build: Build, patience: float) -> None:
        """`patience` is how much CPU calls of the quick code may take, in seconds, all together; it becomes less."""
        self._now = quick
        self.patience = patience
        self._build: Build | None = build
        self._lock = threading.Lock()

    @property
    def ripe(self) -> bool:
        """Whether calls go to the optimised code."""
        return self._build is None

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the text: see `Compiled.call`."""
        if self._build is None:
            return self._now.call(name, *arguments)
        before = thread_time()
        result = self._now.call(name, *arguments)
        self._spend(thread_time() - before)
        return result

    def record(self, name: str, **fields: Any) -> Any:
        """A record of the text: see `Compiled.record`."""
        return self._now.record(name, **fields)

    def _spend(self, seconds: float) -> None:
        """Optimise when patience is at its end; the other threads go on with what there is meanwhile."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            self.patience -= seconds
            if self.patience <= 0.0 and self._build is not None:
                self._now = self._build.made(CAREFUL)
                self._build = None
        finally:
            self._lock.release()


def compile_quickly(text: str, exports: tuple[str, ...]) -> Compiled | Ripening:
    """The optimised program where the cache has it, and one that ripens elsewhere.

    Raises what `serq.codegen.compile_module` raises.
    """
    build = Build(text, exports)
    careful = build.kept(CAREFUL)
    if careful is not None:
        return careful
    quick = build.kept(QUICK) or build.made(QUICK)
    return Ripening(quick, build, _SECONDS_A_BYTE * build.size)
