"""How long a step stage works at a prefill that it has for itself."""

from collections.abc import Callable
from functools import cache
from math import floor

from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import Compiled, Doubles, NoScope, compile_expr

_MOST_ITERATIONS = 100_000


class _Alone(NoScope):
    """What the cost of an iteration may read when one resident prefills and nobody else is there."""

    def __init__(self, tokens: float, position: float) -> None:
        self._known = {
            "nres": 1.0, "ndec": 0.0, "kvb": 0.0, "kvp": position + tokens, "ntok": tokens, "npre": tokens,
            "attn": tokens * (position + tokens / 2),
        }  # fmt: skip

    def context(self, name: e.ContextName) -> float:
        """A context variable of the iteration."""
        return self._known[name]


def seconds_alone(program: p.Program, place: int) -> Callable[[float], float]:
    """The time of the iterations of a prefill of so many tokens, from position 0, at the step stage at that place."""
    kind = program.stages[place].kind
    assert isinstance(kind, p.Step)
    constants = {c.name: c.folded.value for c in program.constants}

    def compiled(expr: e.Expr) -> Compiled:
        return compile_expr(expr, Doubles(), constants)

    budget, cost = compiled(kind.budget), compiled(kind.cost)
    chunk = None if kind.chunk is None else compiled(kind.chunk)

    @cache
    def seconds(tokens: float) -> float:
        left, done, time = floor(tokens), 0.0, 0.0
        for _ in range(_MOST_ITERATIONS):
            if left <= 0:
                break
            here = _Alone(0.0, done)
            part = min(left, max(1.0, budget(here)), float("inf") if chunk is None else max(1.0, chunk(here)))
            time += cost(_Alone(part, done))
            done += part
            left -= part
        return time

    return seconds
