"""What a session knows without running: numbers, draws that are still open, times of passing; all linear.

An `Amount` is a constant plus multiples of atoms. An atom is the present, the time at which the session last passed a
place, or a draw that was not looked at. What is not of this form is `Unclear`, with the reason why; it may be observed
or forgotten, but no branch and no work may depend on it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

import sympy

from serq.base.source import NOWHERE, Span
from serq.ir import laws
from serq.ir.expr import LawName, Number, is_finite


@dataclass(frozen=True, slots=True)
class Named:
    """A number, and what it is in the constants of the program (which plays no part in equality)."""

    value: Number
    symbol: Any = field(compare=False)

    def __add__(self, other: "Named") -> "Named":
        return Named(self.value + other.value, self.symbol + other.symbol)

    def __sub__(self, other: "Named") -> "Named":
        return Named(self.value - other.value, self.symbol - other.symbol)

    def __mul__(self, other: "Named") -> "Named":
        return Named(self.value * other.value, self.symbol * other.symbol)

    def __truediv__(self, other: "Named") -> "Named":
        return Named(self.value / other.value, self.symbol / other.symbol)


def number(value: Number | int) -> Named:
    """A number without a name."""
    if isinstance(value, float):
        return Named(value, sympy.Float(value))
    exact = Fraction(value)
    return Named(exact, sympy.Rational(exact.numerator, exact.denominator))


ZERO, ONE = number(0), number(1)

LONGEST_NAME = 100
"""The number of operations beyond which nobody can read what a number is in the constants of the program."""

UNNAMED = sympy.Dummy("unnamed")
"""Stands for what has no name any more; so has everything that is made of it."""


def trimmed(value: Named) -> Named:
    """The same number, without its name where that has grown too long."""
    return Named(value.value, UNNAMED) if value.symbol.count_ops() > LONGEST_NAME else value


def is_named(symbol: Any) -> bool:
    """Whether this is a name in the constants of the program."""
    return UNNAMED not in symbol.free_symbols


@dataclass(frozen=True, slots=True)
class Now:
    """The present."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The time at which the session last passed a place of the code."""

    place: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A draw made at a place, the `number`-th there. `spent`: it has been the work of a run."""

    place: int
    number: int
    law: laws.Law
    mean: Named
    second: Named
    spent: bool = False


Atom: TypeAlias = Now | Mark | Sample


@dataclass(frozen=True, slots=True)
class Amount:
    """A constant plus multiples of atoms (no multiple is zero)."""

    constant: Named
    terms: tuple[tuple[Atom, Named], ...] = ()

    @property
    def known(self) -> bool:
        """Whether it is just a number."""
        return not self.terms

    @property
    def atoms(self) -> frozenset[Atom]:
        """The atoms in it."""
        return frozenset(atom for atom, _ in self.terms)

    def swapped(self, change: Callable[[Atom], Atom]) -> "Amount":
        """The same form over other atoms."""
        return replace(self, terms=tuple((change(atom), factor) for atom, factor in self.terms))

    @property
    def trimmed(self) -> "Amount":
        """The same form, without names that have grown too long."""
        return Amount(trimmed(self.constant), tuple((atom, trimmed(factor)) for atom, factor in self.terms))


@dataclass(frozen=True, slots=True)
class Unclear:
    """A value that is not followed, and why."""

    reason: str
    span: Span = field(default=NOWHERE, compare=False)


Value: TypeAlias = Amount | Unclear


def add(a: Amount, b: Amount, sign: int = 1) -> Amount:
    """The sum, or the difference."""
    terms: dict[Atom, Named] = dict(a.terms)
    factor = number(sign)
    for atom, multiple in b.terms:
        terms[atom] = terms.get(atom, ZERO) + factor * multiple
    kept = tuple((atom, multiple) for atom, multiple in terms.items() if multiple.value != 0)
    return Amount(a.constant + factor * b.constant, kept)


def scale(a: Amount, factor: Named) -> Amount:
    """A multiple."""
    terms = () if factor.value == 0 else tuple((atom, multiple * factor) for atom, multiple in a.terms)
    return Amount(a.constant * factor, terms)


@dataclass(frozen=True, slots=True)
class Work:
    """The law of the work of a visit: first two moments, whether it is exponential, whether it has a density (at least
    in part), its name for a reader; `fixed`, and the draws with their multiples whose sum it is.
    """

    mean: Named
    second: Named
    exponential: bool
    dense: bool
    law: str
    fixed: Number = Fraction(0)
    draws: tuple[tuple[laws.Law, Number], ...] = ()


def as_work(amount: Amount) -> Work | Unclear:
    """The law of an amount as the work of a run; it must not depend on the time, nor on a draw used before."""
    samples = [(atom, factor) for atom, factor in amount.terms if isinstance(atom, Sample)]
    if len(samples) != len(amount.terms):
        return Unclear("its work depends on the time")
    if any(atom.spent for atom, _ in samples):
        return Unclear("its work is a draw that was the work of an earlier run: the two are not independent")
    if amount.constant.value < 0 or any(factor.value < 0 for _, factor in samples):
        return Unclear("its work is a difference")
    mean, variance = amount.constant, ZERO
    for atom, factor in samples:
        mean = mean + factor * atom.mean
        variance = variance + factor * factor * (atom.second - atom.mean * atom.mean)
    alone = len(samples) == 1 and amount.constant.value == 0
    exponential = alone and samples[0][0].law.name == "exp"
    dense = any(atom.law.name != "geometric" for atom, _ in samples)
    draws = tuple((atom.law, factor.value) for atom, factor in samples)
    name = _law_name(amount, samples)
    return Work(mean, mean * mean + variance, exponential, dense, name, amount.constant.value, draws)


def _law_name(amount: Amount, samples: list[tuple[Sample, Named]]) -> str:
    if not samples:
        return "constant"
    if len(samples) > 1 or amount.constant.value != 0:
        return "a sum"
    law = samples[0][0].law
    return f"erlang of {law.args[0]} phases" if law.name == "erlang" else law.name


def sample(place: int, ordinal: int, name: LawName, args: tuple[Named, ...]) -> Value:
    """What a draw of a law without finite support is: an atom, a number when it does not vary, or why it is none."""
    law = laws.Law(name, tuple(a.value for a in args))
    problem = laws.problem_of(law)
    if problem is not None:
        return Unclear(f"~{name}: {problem}")
    mean = laws.mean(law)
    if mean == 0 or (name == "uniform" and law.args[0] == law.args[1]):
        return Amount(args[0] if name == "uniform" else ZERO)
    symbolic: Any = tuple(a.symbol for a in args)
    named = laws.Law(name, symbolic)
    atom = Sample(
        place,
        ordinal,
        law,
        Named(mean, laws.mean(named)),
        Named(laws.second_moment(law), laws.second_moment(named)),
    )
    return Amount(ZERO, ((atom, ONE),))


Environment = Mapping[str, Value]


def plain(value: Value) -> Named | None:
    """The number that a value is, if it is one and finite."""
    if isinstance(value, Amount) and value.known and is_finite(value.constant.value):
        return value.constant
    return None
