"""PRISM's explicit files: `.tra` (rates), `.sta` (states), `.lab` (labels), one `.srew` per reward.

PRISM reads them with `prism -importmodel NAME.all -ctmc`, or `-dtmc` for a program with clocks. The files have no
comments: older versions refuse them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain as joined

from serq.exporters.explored import Explored, explored, map_text, properties_text, rationals_of
from serq.exporters.numerals import Numerals, is_exact_decimal, numeral
from serq.ir.chain import Chain


@dataclass(frozen=True)
class Explicit:
    """Explicit files. `numerals` is `decimal` for PRISM as it starts, `rational` for `prism -exact`."""

    numerals: Numerals = "decimal"
    name: str = "explicit"
    suffixes: tuple[str, ...] = (".tra", ".sta", ".lab", ".srew", ".props", ".map.json")

    def emit(self, subject: Chain, stem: str) -> Mapping[str, str]:
        """The texts by file name. With several rewards the files are `NAME1.srew`, `NAME2.srew`, ..., as PRISM numbers
        them.
        """
        ready = explored(subject)
        texts = {
            f"{stem}.tra": self._transitions(ready),
            f"{stem}.sta": "(s)\n" + "".join(f"{i}:({i})\n" for i in range(ready.size)),
            f"{stem}.lab": _labels(ready),
        }
        for number, identifier in enumerate(ready.rewards, start=1):
            ending = ".srew" if len(ready.rewards) == 1 else f"{number}.srew"
            texts[stem + ending] = self._rewards(ready, identifier)
        texts[f"{stem}.props"] = properties_text(subject, ready)
        texts[f"{stem}.map.json"] = map_text(
            subject, ready, {"format": self.name, "numbers": self._numbers(subject, ready)}
        )
        return texts

    def _transitions(self, ready: Explored) -> str:
        rows = ready.rates
        numbers = rows.numbers.texts(self._numeral)
        lines = [f"{ready.size} {len(numbers)}"]
        edges = zip(rows.sources().tolist(), rows.targets.tolist(), numbers, strict=True)
        lines += [f"{source} {target} {rate}" for source, target, rate in edges]
        return "\n".join(lines) + "\n"

    def _rewards(self, ready: Explored, identifier: str) -> str:
        column = ready.rewards[identifier]
        some = column.nonzero()
        lines = [f'# Reward structure "{identifier}"', "# State rewards", f"{ready.size} {len(some)}"]
        values = column[some].texts(self._numeral)
        lines += [f"{state} {value}" for state, value in zip(some.tolist(), values, strict=True)]
        return "\n".join(lines) + "\n"

    def _numeral(self, value: Fraction) -> str:
        return numeral(value, self.numerals)

    def _numbers(self, chain: Chain, ready: Explored) -> str:
        if self.numerals == "rational":
            return rationals_of(chain)
        values = joined(ready.rates.numbers.table, *(column.table for column in ready.rewards.values()))
        exact = all(is_exact_decimal(x) for x in values)
        return "decimals, exact" if exact and not chain.is_near else "decimals, some rounded to the nearest double"


def _labels(ready: Explored) -> str:
    """Label 0 is `init`, label 1 `deadlock` (the states without a way out), as PRISM wants it."""
    deadlocks = frozenset(ready.rates.empty().tolist())
    sets = {"init": frozenset({ready.initial}), "deadlock": deadlocks, **ready.labels}
    lines = [" ".join(f'{number}="{name}"' for number, name in enumerate(sets))]
    of_state: dict[int, list[str]] = {}
    for number, members in enumerate(sets.values()):
        for state in members:
            of_state.setdefault(state, []).append(str(number))
    lines += [f"{state}: {' '.join(numbers)}" for state, numbers in sorted(of_state.items())]
    return "\n".join(lines) + "\n"
