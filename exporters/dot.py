"""A small chain as a picture, for Graphviz: `dot -Tsvg NAME.dot`."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from serq.base.errors import LimitError
from serq.ir.chain import Chain, Transition

LARGEST = 200
"""Nobody reads a picture of more states."""


@dataclass(frozen=True)
class Dot:
    """A directed graph: states by their readable texts, rates by the program's constants, self-loops dashed.

    A program with clocks has probabilities in place of rates.
    """

    name: str = "dot"
    suffixes: tuple[str, ...] = (".dot",)

    def emit(self, subject: Chain, stem: str) -> Mapping[str, str]:
        """The text by file name. Raises LimitError for a chain of more than `LARGEST` states."""
        if subject.size > LARGEST:
            raise LimitError(f"a picture of {subject.size} states cannot be read; the limit is {LARGEST}")
        initial = {state for state, probability in subject.initial if probability}
        lines = [f"digraph {_quoted(subject.name)} {{", "  node [shape=box, style=rounded];"]
        for i, text in enumerate(subject.states):
            pens = ", peripheries=2" if i in initial else ""
            lines.append(f"  s{i} [label={_quoted(text)}{pens}];")
        for (source, target), rate in _edges(subject).items():
            style = ", style=dashed" if source == target else ""
            lines.append(f"  s{source} -> s{target} [label={_quoted(rate)}{style}];")
        return {f"{stem}.dot": "\n".join([*lines, "}"]) + "\n"}


def _edges(chain: Chain) -> dict[tuple[int, int], str]:
    """The rate of each edge as a text, parallel transitions of the same symbol added up."""
    coefficients: dict[tuple[int, int], dict[int, Fraction]] = {}
    for t in chain.transitions:
        if t.rate:
            _add(coefficients.setdefault((t.source, t.target), {}), t)
    texts = ["1" if chain.embedded is not None else symbol.text for symbol in chain.symbols]
    return {
        edge: " + ".join(_term(c, texts[symbol]) for symbol, c in sorted(by_symbol.items()))
        for edge, by_symbol in sorted(coefficients.items())
    }


def _add(by_symbol: dict[int, Fraction], t: Transition) -> None:
    by_symbol[t.symbol] = by_symbol.get(t.symbol, Fraction(0)) + t.coefficient


def _term(coefficient: Fraction, symbol: str) -> str:
    if symbol == "1":
        return str(coefficient)
    if coefficient == 1:
        return symbol
    plain = symbol.replace("_", "").replace(".", "").isalnum()
    return f"{coefficient}*{symbol}" if plain else f"{coefficient}*({symbol})"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
