"""DRN whose rates are functions of the constants: Storm's parametric engine solves it for all their values at once.

Storm: `storm-pars --explicit-drn NAME.drn`. What a rate is multiplied by (a probability, a number of jobs) stays the
number that it is at the program's constants; only the rates themselves stay open. A reward that is earned at
transitions is a sum of their rates and stays open with them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from serq.base.errors import UsageError
from serq.exporters.explored import Explored, explored, map_text, properties_text
from serq.exporters.names import NameMap
from serq.ir.chain import Chain, RateSymbol

_NAME = re.compile(r"[A-Za-z_]\w*")

Sum = dict[int | None, Fraction]
"""Coefficients by the number of a rate symbol; None: of 1."""


@dataclass(frozen=True)
class Parametric:
    """One DRN file with parameters, its properties and its map. Constants in `known` are numbers in it."""

    known: Mapping[str, Fraction] = field(default_factory=dict)

    name: str = "parametric"
    suffixes: tuple[str, ...] = (".drn", ".props", ".map.json")

    def emit(self, subject: Chain, stem: str) -> Mapping[str, str]:
        """The texts by file name."""
        if subject.embedded is not None:
            raise UsageError(
                "a program with clocks has no rates that could stay open; --drn writes its chain in numbers"
            )
        ready = explored(subject)
        writer = _Writer(subject, ready, self.known)
        text = "\n".join(writer.lines()) + "\n"
        values = {"format": self.name, "numbers": "rational functions", "fixed_rates": list(writer.fixed)}
        return {
            f"{stem}.drn": text,
            f"{stem}.props": properties_text(subject, ready),
            f"{stem}.map.json": map_text(subject, ready, values),
        }


class _Writer:
    def __init__(self, chain: Chain, ready: Explored, known: Mapping[str, Fraction]) -> None:
        self.ready = ready
        self.known = known
        self.parameters: list[str] = []
        self.fixed: list[str] = []
        """The rates that stand there as numbers: they depend on no constant, or not by `+ - * /` alone."""
        self.symbols = [self._symbol(symbol, ready.names) for symbol in chain.symbols]
        self.rows = self._rates(chain)
        self.rewards = {name: self._earned(chain, name) for name in ready.rewards}

    def lines(self) -> Iterator[str]:
        """The lines of the file."""
        yield from ("@type: CTMC", "@value_type: parametric", "@parameters", " ".join(self.parameters))
        if self.rewards:
            yield from ("@reward_models", " ".join(self.rewards))
        yield from ("@nr_states", str(self.ready.size), "@nr_choices", str(self.ready.size), "@model")
        for state, row in enumerate(self.rows):
            everything: Sum = {}
            for terms in row.values():
                for symbol, coefficient in terms.items():
                    _add(everything, symbol, coefficient)
            words = [f"state {state} !{self._text(everything)}"]
            if self.rewards:
                words.append(f"[{','.join(self._text(vector[state]) for vector in self.rewards.values())}]")
            words += ["init"] if state == self.ready.initial else []
            words += [name for name, members in sorted(self.ready.labels.items()) if state in members]
            yield " ".join(words)
            yield "\taction 0"
            yield from (f"\t\t{target} : {self._text(terms)}" for target, terms in sorted(row.items()))

    def _symbol(self, symbol: RateSymbol, names: NameMap) -> str:
        """The text of a rate, without blanks: Storm takes a blank for the end of it."""
        if not set(_NAME.findall(symbol.text)) - set(self.known):
            self.fixed.append(symbol.text)
            return f"({symbol.value})"

        def identifier(found: re.Match[str]) -> str:
            if found[0] in self.known:
                return f"({self.known[found[0]]})"
            name = names.identifier(found[0], "constant")
            if name not in self.parameters:
                self.parameters.append(name)
            return name

        return f"({_NAME.sub(identifier, symbol.text)})".replace(" ", "")

    def _rates(self, chain: Chain) -> list[dict[int, Sum]]:
        rows: list[dict[int, Sum]] = [{} for _ in range(chain.size)]
        for t in chain.transitions:
            if t.coefficient:
                _add(rows[t.source].setdefault(t.target, {}), t.symbol, t.coefficient)
        # The state in front of several initial ones, and the loop of a state without a way out, have numbers for rates.
        rows += [{target: {None: rate} for target, rate in row.items()} for row in self.ready.rates[chain.size :]]
        return [row or {state: {None: Fraction(1)}} for state, row in enumerate(rows)]

    def _earned(self, chain: Chain, identifier: str) -> list[Sum]:
        name = self.ready.names.named(identifier).name
        out: list[Sum] = [{} for _ in range(self.ready.size)]
        for state, value in enumerate(chain.state_rewards.get(name, ())):
            _add(out[state], None, value)
        for t in chain.transitions:
            for impulse, value in t.impulses:
                if impulse == name:
                    _add(out[t.source], t.symbol, t.coefficient * value)
        return out

    def _text(self, terms: Sum) -> str:
        pieces = [
            str(coefficient) if symbol is None else self._product(coefficient, self.symbols[symbol])
            for symbol, coefficient in terms.items()
            if coefficient
        ]
        return "+".join(pieces).replace("+-", "-") or "0"

    @staticmethod
    def _product(coefficient: Fraction, symbol: str) -> str:
        return symbol if coefficient == 1 else f"{coefficient}*{symbol}"


def _add(terms: Sum, symbol: int | None, coefficient: Fraction) -> None:
    terms[symbol] = terms.get(symbol, Fraction(0)) + coefficient
