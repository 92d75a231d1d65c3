"""Draws from the laws of the language by name: what `serq.codegen.draws` computes, for arguments as they are evaluated.

The parameters are taken as valid (`serq.ir.laws.problem_of` says which are).
"""

from collections.abc import Callable

from serq.codegen import draws
from serq.codegen.seeds import Words
from serq.ir.expr import LawName

Arguments = tuple[float, ...]

SAMPLERS: dict[LawName, Callable[[Words, Arguments], float]] = {
    "exp": lambda s, a: draws.draw_exp(s, 0, a[0]),
    "det": lambda s, a: a[0],
    "uniform": lambda s, a: draws.draw_uniform(s, 0, a[0], a[1]),
    "erlang": lambda s, a: draws.draw_erlang(s, 0, a[0], a[1]),
    "h2": lambda s, a: draws.draw_h2(s, 0, a[0], a[1]),
    "bernoulli": lambda s, a: draws.draw_bernoulli(s, 0, a[0]),
    "geometric": lambda s, a: draws.draw_geometric(s, 0, a[0]),
    "choice": lambda s, a: draws.draw_choice(s, 0, list(a), 0, len(a) // 2),
}
"""The function that draws from each law; `det` takes nothing from the stream."""
