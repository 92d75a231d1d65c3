"""Measures as formulas in the constants of the program: state elimination over the field of rational functions.

A transition of a chain is a number times a rate symbol, and the symbol has a text in the program's constants. So a
chain that was explored at some values of the constants is that of all values near them, as long as the numbers do not
depend on the constants; whether they do is seen at other values. Grassmann, Taksar and Heyman, Operations Research 33
(1985), eliminate states without a subtraction, so that nothing can vanish on the way.
"""

import ast
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy
from sympy.polys.domains import QQ
from sympy.polys.fields import field

from serq.base.errors import LimitError, LoadError, OutsideFragmentError, RunError, UsageError
from serq.compare.storm_process import StormError
from serq.compare.symbolic_storm import METHOD, reward_functions
from serq.ir.chain import Chain, RateSymbol, Ratio
from serq.ir.program import Program
from serq.pipeline import SolveOptions, explore_chain, explore_finite
from serq.semantics.continuous import in_continuous_time
from serq.semantics.derived import definitions, in_terms_of_others
from serq.semantics.steady import recurrent_class

Reload = Callable[[Mapping[str, Fraction]], Program]
"""The program with other values of some constants."""

LARGEST = 60
"""States that are eliminated; formulas of three constants have hundreds of terms long before."""
LARGEST_IN_STORM = 400
"""States that are given to Storm's parametric engine."""
_CLOSED = "`serq closed-form` has those of queues without a limit that it knows"
SECONDS = 60.0
"""CPU time after which it is given up."""


@dataclass(frozen=True, slots=True)
class Formula:
    """One measure as a formula in the open constants, without a common factor above and below."""

    measure: str
    expression: Any

    @property
    def text(self) -> str:
        """Factored, as a person writes it: `3*(mu + 1)/(mu^2 + 1)`."""
        return str(sympy.factor(self.expression)).replace("**", "^")

    @property
    def latex(self) -> str:
        """Factored, for LaTeX."""
        return str(sympy.latex(sympy.factor(self.expression)))

    def at(self, values: Mapping[str, Fraction]) -> Fraction:
        """The value of the formula at some values of the constants."""
        rationals = {sympy.Symbol(n): sympy.Rational(x.numerator, x.denominator) for n, x in values.items()}
        found = sympy.Rational(self.expression.subs(rationals))
        return Fraction(int(found.p), int(found.q))


@dataclass(frozen=True)
class Formulas:
    """The formulas. `opened` are the constants in them; `kept` says of other constants why they are numbers in them.

    `missing` says of measures why they have no formula; `method` how the others were found; `approximated` in what the
    chain is not that of the program.
    """

    opened: tuple[str, ...]
    kept: Mapping[str, str]
    formulas: tuple[Formula, ...]
    missing: Mapping[str, str]
    method: str = "state elimination"
    approximated: tuple[str, ...] = ()


def formulas(
    program: Program, reload: Reload, options: SolveOptions, wanted: Collection[str] | None = None
) -> Formulas:
    """The measures in the constants that the rates are made of, or in those of them that are `wanted`.

    UsageError for a wanted constant that no rate is made of, LimitError when the formulas grow too large. Raises what
    exploring raises, and NoSteadyStateError.
    """
    chain = explore_finite(program, options, "a formula of the measures", instead=_CLOSED)
    in_continuous_time(chain, "formulas in the constants of the rates are a question")
    states = recurrent_class(chain, program.source)
    if len(states) > LARGEST_IN_STORM:
        raise LimitError(f"{len(states)} recurrent states are too many for formulas, which go to {LARGEST_IN_STORM}")
    values = {c.name: c.folded.exact for c in program.constants if isinstance(c.folded.exact, Fraction)}
    made = definitions(program, wanted or ())
    chain = _in_known_terms(in_terms_of_others(chain, made), values)
    trees = [_tree(symbol.text) for symbol in chain.symbols]
    named = set[str]().union(*(_names(tree) for tree in trees if tree is not None))
    fixed = {name: values[name] for name in definitions(program) if name not in made and name in values}

    def load(changed: Mapping[str, Fraction]) -> Program:
        return reload({**fixed, **changed})

    opened, kept = _openable(chain, load, options, values, trees, sorted(named))
    kept |= {name: f"it is {text} in the program" for name, text in made.items()}
    kept |= {c.name: "it is irrational" for c in program.constants if c.name not in values}
    if wanted is not None:
        for name in wanted:
            if name not in opened:
                why = kept.get(name, "no rate is made of it")
                raise UsageError(f"`{name}` cannot be left open: {why}; open can be {', '.join(opened) or 'none'}")
        kept |= {name: "it was not asked for" for name in opened if name not in wanted}
        opened = [name for name in opened if name in wanted]
    other = explore_chain(load({name: _moved(values[name]) for name in opened}), options) if opened else chain
    elimination = _Elimination(chain, states, trees, values, opened, kept, other)
    try:
        if len(states) > LARGEST:
            raise LimitError(f"{len(states)} recurrent states are too many to be eliminated one by one")
        found = elimination.formulas()
    except LimitError as limit:
        found = _second_road(elimination, limit)
    return replace(found, approximated=tuple(a.text for a in chain.approximated))


def _second_road(elimination: "_Elimination", limit: LimitError) -> Formulas:
    """The formulas by Storm; without it, and when it takes too long too, the limit stands."""
    try:
        return elimination.formulas_by_storm()
    except (LimitError, StormError) as failure:
        advice = "leave fewer constants open (--const-open)"
        raise LimitError(f"{limit}, and {METHOD} finds no formulas either ({failure}); {advice}") from failure


def _moved(value: Fraction) -> Fraction:
    """Another value next to one: a little less, so that a probability stays one."""
    return value * Fraction(96, 97) if value else Fraction(1, 97)


# -- texts of rates ----------------------------------------------------------------------------------------------------


def _tree(text: str) -> ast.expr | None:
    """The text of a rate as a tree; None where it is more than arithmetic of numbers and names."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    plain = (ast.BinOp, ast.UnaryOp, ast.Name, ast.Constant, ast.operator, ast.unaryop, ast.expr_context)
    return tree if all(isinstance(node, plain) for node in ast.walk(tree)) else None


def _in_known_terms(chain: Chain, values: Mapping[str, Fraction]) -> Chain:
    """The chain with numbers for the texts of rates that are more than arithmetic of these constants."""

    def text(symbol: RateSymbol) -> str:
        tree = _tree(symbol.text)
        return symbol.text if tree is not None and _names(tree) <= set(values) else str(symbol.value)

    return replace(chain, symbols=tuple(RateSymbol(text(symbol), symbol.value) for symbol in chain.symbols))


def _names(tree: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _evaluated(tree: ast.expr, values: Mapping[str, Any], number: Callable[[str], Any]) -> Any:
    """The value of a tree, in whatever arithmetic the values are of."""
    match tree:
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=value):
            return number(repr(value))
        case ast.UnaryOp(op=ast.USub(), operand=a):
            return -_evaluated(a, values, number)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _evaluated(left, values, number), _evaluated(right, values, number)
            if isinstance(op, ast.Add):
                return a + b
            if isinstance(op, ast.Sub):
                return a - b
            return a * b if isinstance(op, ast.Mult) else a / b
    raise AssertionError(f"a rate is no {type(tree).__name__}")


# -- what may stay open ------------------------------------------------------------------------------------------------


def _openable(
    chain: Chain,
    reload: Reload,
    options: SolveOptions,
    values: Mapping[str, Fraction],
    trees: Sequence[ast.expr | None],
    names: Sequence[str],
) -> tuple[list[str], dict[str, str]]:
    """The constants on which the chain depends through the texts of its rates alone, and why others are not so."""
    opened, kept = [], {}
    for name in values:
        if name not in names:
            kept[name] = "no rate is made of it"
            continue
        moved = {**values, name: _moved(values[name])}
        try:
            other = explore_chain(reload({name: moved[name]}), options)
        except (LoadError, OutsideFragmentError, RunError):
            kept[name] = "it shapes the states"
            continue
        if _predicted(chain, moved, trees) == [(t.source, t.target, t.rate) for t in other.transitions]:
            opened.append(name)
        else:
            kept[name] = "probabilities, shares or states depend on it too"
    return opened, kept


def _predicted(
    chain: Chain, values: Mapping[str, Fraction], trees: Sequence[ast.expr | None]
) -> list[tuple[int, int, Fraction]]:
    """The transitions as they should be at these values of the constants."""
    rates = [
        symbol.value if tree is None else Fraction(_evaluated(tree, values, Fraction))
        for symbol, tree in zip(chain.symbols, trees, strict=True)
    ]
    return [(t.source, t.target, t.coefficient * rates[t.symbol]) for t in chain.transitions]


# -- elimination -------------------------------------------------------------------------------------------------------


class _Elimination:
    """The stationary weights of the recurrent states, in the field of rational functions of the open constants."""

    def __init__(
        self,
        chain: Chain,
        states: Sequence[int],
        trees: Sequence[ast.expr | None],
        values: Mapping[str, Fraction],
        opened: Sequence[str],
        kept: Mapping[str, str],
        other: Chain,
    ) -> None:
        self._chain, self._states, self._opened, self._kept, self._other = chain, states, opened, kept, other
        self._values = values
        ring, *generators = field(list(opened) or ["_"], QQ)
        self._ring = ring
        known = {name: self._number(value) for name, value in values.items()} | dict(
            zip(opened, generators, strict=False)
        )
        self._rates = [
            self._number(symbol.value) if tree is None else _evaluated(tree, known, lambda t: self._number(Fraction(t)))
            for symbol, tree in zip(chain.symbols, trees, strict=True)
        ]
        self._deadline = time.process_time() + SECONDS

    def _number(self, value: Fraction) -> Any:
        return self._ring(QQ(value.numerator, value.denominator))

    def formulas(self) -> Formulas:
        """By our elimination. LimitError when it takes too long."""
        weights = self._weights()
        total = sum(weights, self._ring(0))
        return self._measured(lambda names: {name: self._mean(name, weights) / total for name in names})

    def formulas_by_storm(self) -> Formulas:
        """By Storm's parametric engine. Raises LimitError and StormError."""
        known = {name: value for name, value in self._values.items() if name not in self._opened}
        found = self._measured(lambda names: reward_functions(self._chain, names, known, self._ring, SECONDS))
        return replace(found, method=METHOD)

    def _measured(self, means_of: Callable[[Sequence[str]], Mapping[str, Any]]) -> Formulas:
        wanted, missing = [], {}
        for ratio in self._chain.ratios:
            if not isinstance(ratio, Ratio):
                missing[ratio.measure] = ratio.reason
            elif any(self._depends(name) for name in _rewards(ratio)):
                missing[ratio.measure] = "what is counted depends on the constants too"
            else:
                wanted.append(ratio)
        means = means_of(list(dict.fromkeys(name for ratio in wanted for name in _rewards(ratio))))
        found = []
        for ratio in wanted:
            value = sum((self._number(weight) * means[name] for weight, name in ratio.terms), self._ring(0))
            if ratio.per and not means[ratio.per]:
                missing[ratio.measure] = f"the event '{ratio.per}' never happens in the long run"
                continue
            expression = value / means[ratio.per] if ratio.per else value
            found.append(Formula(ratio.measure, expression.as_expr()))
        return Formulas(tuple(self._opened), dict(self._kept), tuple(found), missing)

    def _depends(self, name: str) -> bool:
        """Whether the reward itself, and not only how often it is earned, changes with the open constants."""
        here, there = (
            (list(c.state_rewards.get(name, ())), [dict(t.impulses).get(name) for t in c.transitions])
            for c in (self._chain, self._other)
        )
        return here != there

    def _mean(self, name: str, weights: Sequence[Any]) -> Any:
        place = {state: i for i, state in enumerate(self._states)}
        total = self._ring(0)
        for state, value in enumerate(self._chain.state_rewards.get(name, ())):
            if value and state in place:
                total += weights[place[state]] * self._number(value)
        for t in self._chain.transitions:
            earned = dict(t.impulses).get(name)
            if earned and t.source in place:
                total += weights[place[t.source]] * self._number(t.coefficient * earned) * self._rates[t.symbol]
        return total

    def _weights(self) -> list[Any]:
        place = {state: i for i, state in enumerate(self._states)}
        rows: list[dict[int, Any]] = [{} for _ in self._states]
        for t in self._chain.transitions:
            if t.source in place and t.source != t.target and t.coefficient:
                row, target = rows[place[t.source]], place[t.target]
                row[target] = row.get(target, self._ring(0)) + self._number(t.coefficient) * self._rates[t.symbol]
        shares: list[dict[int, Any]] = [{} for _ in rows]
        for k in range(len(rows) - 1, 0, -1):
            down = {j: rate for j, rate in rows[k].items() if j < k}
            total = sum(down.values(), self._ring(0))
            for i in (i for i in range(k) if k in rows[i]):
                share = shares[k][i] = rows[i].pop(k) / total
                for j, rate in down.items():
                    if j != i:
                        rows[i][j] = rows[i].get(j, self._ring(0)) + share * rate
                self._in_time()
        weights = [self._ring(1)]
        for k in range(1, len(rows)):
            weights.append(sum((weights[i] * share for i, share in shares[k].items()), self._ring(0)))
            self._in_time()
        return weights

    def _in_time(self) -> None:
        if time.process_time() > self._deadline:
            raise LimitError(
                f"the formulas in {', '.join(self._opened)} are too large for {SECONDS:g} seconds of elimination"
            )


def _rewards(ratio: Ratio) -> list[str]:
    return [*(name for _, name in ratio.terms), *([ratio.per] if ratio.per else [])]
