"""Which streams the sessions of a program draw from."""

from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

_TESTS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")


def is_test(expr: e.Expr) -> bool:
    """Whether the value is certainly 0 or 1."""
    if isinstance(expr, e.Unary):
        return expr.op == "!"
    return isinstance(expr, e.Binary) and expr.op in _TESTS


def streams_of(program: p.Program) -> tuple[str, ...]:
    """The streams that a session draws from: its own, that of its workload."""
    blocks = [s.expr for s in (*program.init, *program.turn)]
    spills = [x for pool in program.pools if pool.spill is not None for x in (pool.spill.when, pool.spill.work)]
    code = [x for i in program.code for x in flow.expressions(i)]
    session = any(isinstance(i, p.Branch) and not is_test(i.probability) for i in program.code)
    return ("session",) * (session or any(map(_draws, code + spills))) + ("workload",) * any(map(_draws, blocks))


def place_of(streams: tuple[str, ...], purpose: str, slot: str) -> str:
    """Where the words of the stream that the session of a slot has for a purpose lie."""
    width = 4 * len(streams)
    place = 4 * streams.index(purpose) if purpose in streams else 0
    return f"{width} * {slot} + {place}" if place else f"{width} * {slot}"


def _draws(expr: e.Expr) -> bool:
    return any(isinstance(node, e.Draw) and node.law != "det" for node in e.walk(expr))


def arrives_lightly(program: p.Program) -> bool:
    """Whether a session that comes goes on at once, and what the next one needs is made behind it: where arrivals are a
    Poisson process without a limit, and nothing waits for more than a server.
    """
    steps = any(isinstance(stage.kind, p.Step) for stage in program.stages)
    poisson = isinstance(program.arrivals, p.Poisson) and program.arrivals.limit is None
    return poisson and not steps and not program.pools and program.trace is None
