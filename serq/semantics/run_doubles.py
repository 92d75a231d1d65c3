"""The arithmetic of a run: doubles, with functions that give the same bits on every platform, compiled or not."""

from serq.codegen.elementary import exp, log
from serq.codegen.powers import power
from serq.ir import expr as e
from serq.ir.evaluate import Doubles


class RunDoubles(Doubles):
    """IEEE double arithmetic whose exponential, logarithm and power are ours."""

    def function(self, name: e.FunctionName, args: tuple[float, ...]) -> float:
        """The functions of the language on doubles; out of the domain they give NaN or an infinity."""
        match name:
            case "exp":
                return exp(float(args[0]))
            case "ln":
                return log(float(args[0]))
            case "pow":
                return power(float(args[0]), float(args[1]))
            case _:
                return super().function(name, args)
