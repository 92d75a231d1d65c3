"""The explored chain of a program with clocks as PRISM text: a `dtmc` of one variable, which numbers the states.

What step stages remember (tokens in prompts, orders, what is left of clocks) is no count, so no constant stays open.
Beside each state stands what it is; rewards are what one stay earns, and `time` is what one stay lasts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from serq.exporters.explored import Explored, explored, map_text, properties_text, rationals_of
from serq.exporters.properties import plain_number
from serq.exporters.text import ATOM, PRODUCT, Piece, literal
from serq.ir.chain import Chain
from serq.ir.expr import Number

LARGEST = 2000
"""States up to which the text is written: more are for the formats of tools."""
_LONGEST = 18
"""Digits of a whole number that every tool reads."""


@dataclass(frozen=True)
class SlottedPrism:
    """PRISM text of a chain with clocks. `results`: long-run values per step of the chain, by name of the reward."""

    results: Mapping[str, Number] = field(default_factory=dict)
    name: str = "prism"
    suffixes: tuple[str, ...] = (".prism", ".props", ".map.json")

    def emit(self, subject: Chain, stem: str) -> Mapping[str, str]:
        """The texts by file name."""
        ready = explored(subject)
        return {
            f"{stem}.prism": self._model(subject, ready, stem),
            f"{stem}.props": self._properties(subject, ready),
            f"{stem}.map.json": map_text(subject, ready, {"format": self.name, "numbers": rationals_of(subject)}),
        }

    def _model(self, chain: Chain, ready: Explored, stem: str) -> str:
        last = max(ready.size - 1, 1)
        out = [f"// {chain.name}: exported by serQ; the explored chain, {chain.timing}, one number per state."]
        out += [f"// {command}" for command in commands(stem)]
        out += ["", "dtmc", "", "module sessions", f"  s : [0..{last}] init {ready.initial};"]
        for i, (text, row) in enumerate(zip(ready.states, ready.rates, strict=True)):
            ways = " + ".join(f"{_numeral(q).at(ATOM)} : (s'={j})" for j, q in sorted(row.items()))
            out.append(f"  [] s={i} -> {ways or _stays(i)}; // {text}")
        out += ["endmodule", ""]
        out += [f'label "{name}" = {_any(sorted(states))};' for name, states in ready.labels.items()]
        for identifier, column in ready.rewards.items():
            some = column.nonzero()
            values = column[some].texts(lambda x: str(_numeral(x)))
            out += ["", f'rewards "{identifier}"']
            out += [f"  s={i} : {value};" for i, value in zip(some.tolist(), values, strict=True)]
            out.append("endrewards")
        return "\n".join(out) + "\n"

    def _properties(self, chain: Chain, ready: Explored) -> str:
        """The properties, and above each what it is, where that is known."""
        known = {ready.names.identifier(name, "reward"): value for name, value in self.results.items()}
        out = []
        for line in properties_text(chain, ready).splitlines():
            reward = line.partition('"')[2].partition('"')[0]
            if not line.startswith("//") and reward in known:
                out += ["", f"// RESULT: {plain_number(known[reward])}"]
            out.append(line)
        return "\n".join(out) + "\n"


def commands(stem: str) -> tuple[str, ...]:
    """How PRISM and Storm are called on the files."""
    return (f"prism {stem}.prism {stem}.props -exact", f"storm --prism {stem}.prism --prop {stem}.props --exact")


def has_slotted_text(chain: Chain) -> bool:
    """Whether the chain is of a program with clocks and has a text: it is small, of rationals with few digits."""
    if chain.embedded is None or chain.embedded.rounded or chain.size > LARGEST:
        return False
    ready = explored(chain)
    tables = (ready.rates.numbers.table, *(column.table for column in ready.rewards.values()))
    return all(max(abs(x.numerator), x.denominator) < 10**_LONGEST for table in tables for x in table)


def _numeral(x: Fraction) -> Piece:
    return literal(x) if x.denominator != 1 or x >= 0 else Piece(f"-{-x}", PRODUCT)


def _stays(state: int) -> str:
    return f"1 : (s'={state})"


def _any(states: list[int]) -> str:
    return " | ".join(f"s={i}" for i in states)
