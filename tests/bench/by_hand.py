"""The loops written by hand in C, compiled with gcc where there is one."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from workloads import Model

Run = Callable[[float, int], float]
"""Simulates up to a horizon with a seed and gives the mean response."""

_FUNCTIONS = {"closed": "mm1n", "open": "mg1", "shared": "mg1ps", "central": "central", "replica": "replica"}
_WHOLE = {"closed": 1, "central": 1, "replica": 2}
"""How many of a model's numbers are whole."""


@cache
def library() -> Any:
    """The loops, or None where there is no gcc."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    place = Path(tempfile.mkdtemp(prefix="serq-bench-"))
    sources = [str(Path(__file__).with_name(name)) for name in ("loops.c", "replica.c")]
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([gcc, *flags, "-o", str(place / "loops.so"), *sources, "-lm"], check=True)
    return ctypes.CDLL(str(place / "loops.so"))


def by_hand(model: Model) -> Run | None:
    """The model, or None where it cannot be compiled."""
    loops = library()
    if loops is None or model.kind not in _FUNCTIONS:
        return None
    function = getattr(loops, _FUNCTIONS[model.kind])
    whole = _WHOLE.get(model.kind, 0)
    given = [ctypes.c_long(int(n)) if i < whole else ctypes.c_double(n) for i, n in enumerate(model.numbers)]

    def run(horizon: float, seed: int) -> float:
        out = (ctypes.c_double * 4)()
        function(*given, ctypes.c_uint64(seed), ctypes.c_double(horizon), out)
        return out[2] / out[1]

    return run
