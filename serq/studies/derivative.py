"""The derivative of every measure in a constant, exact where the rates depend on it as rational functions.

The chain is explored at a few nearby constants; it must have the same states and transitions. How fast each rate and
each reward changes is then known (`serq.studies.rates`), and the deviation matrix gives the rest.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from serq.base.errors import LoadError, OutsideFragmentError, RunError, UsageError
from serq.ir.chain import Chain, Ratio
from serq.ir.program import Program
from serq.pipeline import RATIONAL_BY_DEFAULT, SolveOptions, explore_chain, explore_finite
from serq.semantics.generator import merged_rates
from serq.semantics.sensitivity import Slope, slopes
from serq.semantics.solve import is_rounded, stationary
from serq.studies.rates import Slopes, points_at

Reload = Callable[[Fraction], Program]
"""The program with another value of the constant."""


@dataclass(frozen=True, slots=True)
class Derivatives:
    """The derivatives of the measures in a constant at its value."""

    constant: str
    at: Fraction
    slopes: tuple[Slope, ...]


def derivatives(program: Program, constant: str, reload: Reload, options: SolveOptions) -> Derivatives:
    """The derivative of every measure that has a value, in the constant of that name.

    UsageError when there is no such constant, or when the chain has other states next to its value: then there is no
    derivative. Raises what exploring and solving raise.
    """
    at = _value(program, constant)
    points = points_at(at)
    chain = explore_finite(program, options, f"a derivative (in `{constant}`)", instead=_DIFFERENCES)
    if is_rounded(chain):
        raise UsageError("the rates of this semi-Markov program are rounded: there is no exact derivative of them")
    exact = (chain.size <= RATIONAL_BY_DEFAULT if options.exact is None else options.exact) and not chain.is_near
    solution = stationary(chain, exact=exact, method=options.method, source=program.source)
    chains = [chain, *(_nearby(constant, reload, x, options) for x in points[1:])]
    for other in chains[1:]:
        _check_alike(constant, chain, other)
    found = Slopes(points)
    rates = _rate_slopes(constant, chains, found)
    rewards = _reward_slopes(chains, found)
    if found.is_rough:
        why = "".join(f": {a.text}" for a in chain.approximated[:1])
        raise UsageError(f"the rates are no smooth function of `{constant}`, so there is no derivative in it{why}")
    answer = slopes(chain, solution, rates, rewards)
    if not found.is_exact:
        answer = tuple(Slope(s.measure, s.value, float(s.derivative)) for s in answer)
    return Derivatives(constant, at, answer)


_DIFFERENCES = "without a limit `serq solve` finds the steady state where it can, and `serq price` differences of two"


def _value(program: Program, constant: str) -> Fraction:
    try:
        value = program.constant(constant).folded.exact
    except KeyError:
        names = ", ".join(f"`{c.name}`" for c in program.constants) or "none"
        raise UsageError(f"the program has no `let {constant}`; there are {names}") from None
    if isinstance(value, float):
        raise UsageError(f"`{constant}` is {value}, which is no rational: there is no exact derivative in it")
    return value


def _shapes(constant: str) -> UsageError:
    return UsageError(
        f"`{constant}` shapes the states of the chain: there is no derivative in it, only differences "
        f"(serq price --from {constant}=... --to {constant}=...)"
    )


def _nearby(constant: str, reload: Reload, value: Fraction, options: SolveOptions) -> Chain:
    try:
        return explore_chain(reload(value), options)
    except (LoadError, OutsideFragmentError, RunError):
        raise _shapes(constant) from None


_NUMBER = re.compile(r"[\d.]+(/\d+)?")


def _check_alike(constant: str, chain: Chain, other: Chain) -> None:
    """The explorer meets the same states in the same order; their texts differ in the parameters of laws at most."""
    texts = ([_NUMBER.sub("#", text) for text in c.states] for c in (chain, other))
    if next(texts) != next(texts):
        raise _shapes(constant)


def _rate_slopes(constant: str, chains: Sequence[Chain], found: Slopes) -> dict[tuple[int, int], Fraction]:
    """How fast the rate of every transition changes, by source and target."""
    out = {}
    for source, rows in enumerate(zip(*(merged_rates(chain) for chain in chains), strict=True)):
        if any(row.keys() != rows[0].keys() for row in rows):
            raise _shapes(constant)
        for target in rows[0]:
            slope = found.of([row[target] for row in rows])
            if slope:
                out[source, target] = slope
    return out


def _reward_slopes(chains: Sequence[Chain], found: Slopes) -> dict[str, tuple[Fraction, ...]]:
    """How fast the reward rates that measures need change in every state; those left out that do not."""
    ratios = [r for r in chains[0].ratios if isinstance(r, Ratio)]
    names = sorted({name for r in ratios for name in (*(n for _, n in r.terms), *((r.per,) if r.per else ()))})
    tables = [chain.reward_table(names) for chain in chains]
    out = {}
    for name in names:
        changes = tuple(found.of(values) for values in zip(*(table[name] for table in tables), strict=True))
        if any(changes):
            out[name] = changes
    return out
