"""What a program asks of its stages while it runs, beyond what is counted anyway."""

from serq.engine.supported import expressions_of
from serq.ir import expr as e
from serq.ir import program as p


def reads_estimates(program: p.Program) -> bool:
    """Whether something reads an online estimate or a price."""
    return any(
        isinstance(node, e.Price) or (isinstance(node, e.StageState) and node.fact.startswith("est_"))
        for expr in expressions_of(program)
        for node in e.walk(expr)
    )


def reads_work(*exprs: e.Expr) -> bool:
    """Whether one of the expressions reads the unfinished work of a stage."""
    return any(isinstance(node, e.StageState) and node.fact == "work" for expr in exprs for node in e.walk(expr))


def drifting(program: p.Program) -> tuple[int, ...]:
    """The gauges that change while nothing happens."""
    return tuple(place for place, gauge in enumerate(program.gauges) if reads_work(gauge.expr))
