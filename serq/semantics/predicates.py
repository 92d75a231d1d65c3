"""Sets of states in words: comparisons of state rewards with numbers, such as `stage.svc.number >= 3`.

Several are joined by `and`.
"""

import operator
import re
from collections.abc import Callable
from fractions import Fraction

from serq.base.errors import UsageError
from serq.base.suggestions import did_you_mean
from serq.ir.chain import Chain

_COMPARISONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_FORM = re.compile(r"\s*([\w.\[\]]+)\s*(<=|>=|==|!=|<|>)\s*([-+\d./e]+)\s*")


def states_where(chain: Chain, text: str) -> frozenset[int]:
    """The states in which all comparisons hold. UsageError for what is none, and when there is no such state."""
    found = set(range(chain.size))
    for part in re.split(r"\band\b|&&", text):
        name, compare, value = _comparison(chain, part)
        vector = chain.state_rewards[name]
        found = {i for i in found if compare(vector[i], value)}
    if not found:
        raise UsageError(f"there is no state in which {text.strip()}")
    return frozenset(found)


def _comparison(chain: Chain, text: str) -> tuple[str, Callable[[Fraction, Fraction], bool], Fraction]:
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(f"a set of states is `MEASURE <= NUMBER` (or <, >=, >, ==, !=), joined by `and`, not {text!r}")
    name, sign, number = match.groups()
    if name not in chain.state_rewards:
        guess = did_you_mean(name, chain.state_rewards)
        known = f"there are {', '.join(chain.state_rewards)}"
        raise UsageError(" ".join(filter(None, (f"no state reward is called {name!r};", guess, known))))
    try:
        return name, _COMPARISONS[sign], Fraction(number)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"{number!r} is no number") from None
