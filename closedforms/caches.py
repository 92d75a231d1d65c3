"""The hit ratio of a cache under independent requests.

Sources: H. Che, Y. Tung, Z. Wang, IEEE JSAC 20 (2002) 1305-1314, and C. Fricker, P. Robert, J. Roberts, ITC 24 (2012),
arXiv:1202.3974, for the approximation; W. F. King, IFIP Congress 1971, for the exact law of LRU.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from itertools import permutations

import sympy

from serq.closedforms.arguments import COUNT, NON_NEGATIVE, Arguments, Parameter
from serq.closedforms.formula import Formula, Precondition, Quantity, Values

ITEMS = Parameter("items", sympy.Symbol("n"), "number of items of equal size", domain=COUNT)
CAPACITY = Parameter("capacity", sympy.Symbol("C"), "items that fit into the cache", domain=COUNT)
ZIPF = Parameter("zipf", sympy.Symbol("s"), "item i is asked for with weight 1 / i^s", domain=NON_NEGATIVE)
SMALLER = Precondition("a cache that does not hold everything", lambda a: a.whole("capacity") < a.whole("items"))
HIT = Quantity("hit", "probability that a request finds its item in the cache")
BISECTIONS = 60


def popularity(items: int, exponent: Decimal) -> list[Decimal]:
    """The request probabilities of Zipf's law."""
    weights = [Decimal(i) ** -exponent for i in range(1, items + 1)]
    total = sum(weights)
    return [w / total for w in weights]


def _che(a: Arguments) -> Values:
    """The time t at which the expected number of distinct items asked for is the capacity."""
    chances = [float(p) for p in popularity(a.whole("items"), a.decimals().number("zipf"))]
    capacity = a.whole("capacity")

    def seen(t: float) -> float:
        return math.fsum(-math.expm1(-p * t) for p in chances)

    low, high = 0.0, 1.0
    while seen(high) < capacity:
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if seen(middle) < capacity else (low, middle)
    return {"hit": math.fsum(-p * math.expm1(-p * high) for p in chances), "time": high}


CHE = Formula(
    name="lru-che",
    title="LRU cache, Zipf requests: Che's approximation",
    source="Che, Tung and Wang 2002; Fricker, Robert and Roberts 2012",
    parameters=(ITEMS, CAPACITY, ZIPF),
    preconditions=(SMALLER, Precondition("at most 10000 items", lambda a: a.whole("items") <= 10_000)),
    measures=(HIT, Quantity("time", "characteristic time, in requests")),
    recursion=_che,
    numerical="bisection in doubles",
    stability="A stationary law for every popularity.",
    kind="approximation",
)


def _king(a: Arguments) -> Values:
    """The cache holds the last `capacity` distinct items: sum over the orders in which they were asked for."""
    chances = popularity(a.whole("items"), a.decimals().number("zipf"))
    hit = Decimal(0)
    for order in permutations(chances, a.whole("capacity")):
        probability, used = Decimal(1), Decimal(0)
        for p in order:
            probability *= p / (1 - used)
            used += p
        hit += probability * used
    return {"hit": hit}


KING = Formula(
    name="lru-king",
    title="LRU cache, Zipf requests: the exact hit ratio",
    source="King 1971",
    parameters=(ITEMS, CAPACITY, ZIPF),
    preconditions=(SMALLER, Precondition("at most 8 items (a sum over orders)", lambda a: a.whole("items") <= 8)),
    measures=(HIT,),
    recursion=_king,
    numerical="a sum over all orders, in decimals",
    stability="A stationary law for every popularity.",
)

FAMILIES: Sequence[Formula] = (CHE, KING)
