"""Which streams the sessions of a program draw from, and when they begin."""

from serq.engine.holds import Holds
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
    session = any(isinstance(i, p.Branch) and not is_test(i.probability) for i in program.code) or any(
        _draws(x) for i in program.code for x in flow.expressions(i)
    )
    return ("session",) * session + ("workload",) * any(map(_draws, blocks))


def _draws(expr: e.Expr) -> bool:
    return any(isinstance(node, e.Draw) and node.law != "det" for node in e.walk(expr))


def begins_ahead(program: p.Program, holds: Holds) -> bool:
    """Whether the streams of a session begin when the one before it arrives, so that they are ready when it does."""
    return isinstance(program.arrivals, p.Poisson | p.Renewal) and not holds.ghosts
