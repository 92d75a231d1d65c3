"""Gauges of a queue without a limit: which of them are linear in its length, so that their means are known."""

from serq.ir import expr as e
from serq.ir import program as p
from serq.semantics.records import Record

Degree = int | None
"""0 where the length of the queue does not come in, 1 where a gauge is linear in it, None where it may be neither."""

_CURVED = "it may be no linear function of the length of the queue, which has no limit; give the program a --limit"


def curved_gauges(program: p.Program, grows: Record) -> dict[str, str]:
    """By measure, why a gauge has no value when such sessions are those whose number grows.

    What the front shows says nothing about a gauge far up: `max(0, queue(svc) - 100)` is 0 there.
    """
    found = {}
    for gauge in program.gauges:
        if _Degrees(program, grows).of(gauge.expr) is None:
            found[f"gauge.{gauge.name}.mean"] = _CURVED
    return found


class _Degrees:
    """Degrees of expressions, from the leaves up."""

    def __init__(self, program: p.Program, grows: Record) -> None:
        runs = isinstance(program.code[grows.pc], p.Run)
        self._stages = {grows.place[0]} if runs else set()
        self._queues = set() if runs else {grows.place[0]}
        self._held = {pool for scope in grows.scopes for pool in scope[1::2]} | {pool for pool, *_ in grows.entries}
        self._waits = runs and isinstance(program.stages[grows.place[0]].kind, p.Fifo)

    def of(self, x: e.Expr) -> Degree:
        """Of an expression of numbers of jobs and constants."""
        match x:
            case e.StageState() | e.PoolState() if any(self.of(part) != 0 for part in e.children(x)):
                return None
            case e.StageState(fact="busy") if self._waits:
                return 0
            case e.StageState(stage=ref):
                return int(_meets(ref, self._stages))
            case e.PoolState(fact=fact, pool=ref):
                return int(_meets(ref, self._queues if fact == "queued" else self._held))
            case e.Unary(op="-", operand=inner):
                return self.of(inner)
            case e.Binary(op="+" | "-", left=a, right=b):
                left, right = self.of(a), self.of(b)
                return None if left is None or right is None else max(left, right)
            case e.Binary(op="*", left=a, right=b):
                left, right = self.of(a), self.of(b)
                return None if left is None or right is None or left + right > 1 else left + right
            case e.Binary(op="/", left=a, right=b):
                return self.of(a) if self.of(b) == 0 else None
            case _:
                return None if any(self.of(part) != 0 for part in e.children(x)) else 0


def _meets(ref: e.Ref, places: set[int]) -> bool:
    return any(ref.base <= place < ref.base + ref.size for place in places)
