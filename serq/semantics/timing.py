"""Whether a program lives in continuous time alone, or has clocks: fixed and geometric times, iterations among them."""

from serq.ir import expr as e
from serq.ir import program as p
from serq.semantics.control import Control
from serq.semantics.kinds import Shape


def has_clocks(control: Control) -> bool:
    """Whether the program runs in slots or is semi-Markov: it has a step stage, or it has geometric times and no
    exponential ones.
    """
    program = control.program
    if any(isinstance(stage.kind, p.Step) for stage in program.stages):
        return True
    if isinstance(program.arrivals, p.Poisson) or not _draws_geometric(program):
        return False
    nodes = ((i, node.step) for i, node in enumerate(control.graph.nodes))
    kinds = [control.kinds.at(i, step.work) for i, step in nodes if isinstance(step, p.Run)]
    if isinstance(program.arrivals, p.Renewal):
        kinds.append(control.kinds.of(program.arrivals.gap, {}))
    geometric = any(source.text == "~geometric" for kind in kinds for source in kind.sources)
    return geometric and not any(Shape.PHASE in kind.shapes for kind in kinds)


def _draws_geometric(program: p.Program) -> bool:
    gaps = [program.arrivals.gap] if isinstance(program.arrivals, p.Renewal) else []
    exprs = [step.work for step in program.code if isinstance(step, p.Run)]
    exprs += [step.expr for step in (*program.code, *program.init, *program.turn) if isinstance(step, p.Set)]
    return any(draw.law == "geometric" for x in (*exprs, *gaps) for draw in e.draws(x))
