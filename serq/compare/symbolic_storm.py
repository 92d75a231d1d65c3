"""Long-run rewards of a chain as rational functions, by Storm's parametric engine: the road for chains that are too
large for our elimination.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy

from serq.compare.storm import long_run_functions
from serq.exporters.explored import explored
from serq.exporters.parametric import Parametric
from serq.ir.chain import Chain

METHOD = "Storm's parametric engine"


def reward_functions(
    chain: Chain, rewards: Sequence[str], known: Mapping[str, Fraction], ring: Any, timeout: float
) -> dict[str, Any]:
    """The long-run rates of rewards as elements of a field of rational functions, constants in `known` as numbers.

    A reward that no state earns is 0. Raises LimitError when time or memory runs out, StormError when Storm fails.
    """
    names = explored(chain).names
    identifiers = {name: names.identifier(name, "reward") for name in rewards}
    earned = [name for name in rewards if any(chain.reward_rates(name))]
    text = Parametric(known=dict(known)).emit(chain, chain.name)[f"{chain.name}.drn"]
    found = long_run_functions(text, [identifiers[name] for name in earned], timeout=timeout)
    symbols = {names.identifier(str(s), "constant"): sympy.Symbol(str(s)) for s in ring.symbols}
    values = dict.fromkeys(rewards, ring(0))
    for name, function in zip(earned, found, strict=True):
        values[name] = ring.from_expr(sympy.sympify(function.replace("^", "**"), locals=symbols))
    return values
