"""`serq.semantics.sweeps`, compiled, over NumPy arrays."""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serq.codegen import Compiled, compile_module

Vector = NDArray[np.float64]


@cache
def compiled() -> Compiled:
    """The loops as machine code."""
    text = files("serq.semantics").joinpath("sweeps.py").read_text(encoding="utf-8")
    return compile_module(text, exports=("eliminate", "weights", "sweep"))


class Sweeper:
    """Gauss-Seidel sweeps over the rows of a CSR matrix with the given diagonal."""

    def __init__(self, matrix: Any, exits: Vector) -> None:
        self._begin = matrix.indptr.astype(np.int64)
        self._columns = matrix.indices.astype(np.int64)
        self._data = np.ascontiguousarray(matrix.data, dtype=float)
        self._exits = np.ascontiguousarray(exits, dtype=float)
        self._sweep = compiled().functions["sweep"]

    def sweep(self, x: Vector, right: float = 0.0) -> None:
        """One symmetric sweep of x * exits = right + matrix x, in place."""
        self._sweep(self._begin, self._columns, self._data, self._exits, x, right, len(x))
