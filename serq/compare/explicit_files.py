"""PRISM's explicit files read back, so that what was written can be put to another tool.

Storm's own reader wants another dialect (no count line, `ctmc` on top, one unnamed reward), and doubles only.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise


@dataclass(frozen=True)
class ExplicitModel:
    """A chain as explicit files give it: (source, target, rate) in ascending order, labels and rewards by name."""

    size: int
    transitions: tuple[tuple[int, int, Fraction], ...]
    labels: Mapping[str, frozenset[int]]
    rewards: Mapping[str, Mapping[int, Fraction]]


def read_explicit(texts: Mapping[str, str]) -> ExplicitModel:
    """The chain in the files, given as texts by file name: one `.tra`, one `.lab`, any number of `.srew`.

    Raises ValueError where a file is missing, or its counts, indices or numbers do not fit.
    """
    size, transitions = _transitions(_only(texts, ".tra"))
    labels = _labels(_only(texts, ".lab"), size)
    rewards = dict(_rewards(text, size) for name, text in texts.items() if name.endswith(".srew"))
    return ExplicitModel(size, transitions, labels, rewards)


def _only(texts: Mapping[str, str], ending: str) -> str:
    found = [text for name, text in texts.items() if name.endswith(ending)]
    if len(found) != 1:
        raise ValueError(f"there must be one {ending} file, not {len(found)}")
    return found[0]


def _records(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split()


def _index(text: str, size: int) -> int:
    index = int(text)
    if not 0 <= index < size:
        raise ValueError(f"state {index} is not among {size} states")
    return index


def _transitions(text: str) -> tuple[int, tuple[tuple[int, int, Fraction], ...]]:
    records = _records(text)
    size, count = (int(x) for x in next(records))
    rows = [(_index(s, size), _index(t, size), Fraction(rate)) for s, t, rate in records]
    if len(rows) != count:
        raise ValueError(f"the .tra file announces {count} transitions and has {len(rows)}")
    if any(a[:2] >= b[:2] for a, b in pairwise(rows)):
        raise ValueError("the transitions are not in ascending order, or one is there twice")
    return size, tuple(rows)


def _labels(text: str, size: int) -> dict[str, frozenset[int]]:
    first, *rest = text.splitlines()
    names = dict(re.findall(r'(\d+)="([^"]+)"', first))
    members: dict[str, set[int]] = {name: set() for name in names.values()}
    for line in rest:
        state, _, numbers = line.partition(":")
        for number in numbers.split():
            members[names[number]].add(_index(state, size))
    return {name: frozenset(states) for name, states in members.items()}


def _rewards(text: str, size: int) -> tuple[str, dict[int, Fraction]]:
    header = re.match(r'# Reward structure "(\w+)"\n# State rewards\n', text)
    if header is None:
        raise ValueError("a .srew file must begin with the name of its reward structure")
    records = _records(text)
    states, count = (int(x) for x in next(records))
    values = {_index(state, size): Fraction(value) for state, value in records}
    if states != size or len(values) != count:
        raise ValueError(f"the reward structure {header[1]} does not fit its counts")
    return header[1], values
