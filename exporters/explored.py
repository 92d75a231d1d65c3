"""An explored chain made ready for a file: identifiers for its labels and rewards, merged rates, one initial state.

A chain of a program with clocks is written in discrete time: probabilities in place of rates, what a state earns on
average in one stay in place of what it earns per unit of time, and a reward `time` by which long-run averages are to be
divided.

Rewards are lowered to rates per state, the only kind that PRISM and Storm read alike in every format. A reward that
no state earns is left out, because Storm cannot answer about an empty reward structure; the map lists it, and no
formula of a measure names it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from serq.exporters.columns import Column, Rows
from serq.exporters.names import NameMap
from serq.exporters.packed_chain import packed
from serq.ir.chain import Chain, Ratio

START = "start"
"""The text of the state that is added when the initial distribution has several states: the tools know one initial
state. It is left after a mean time of 1 and never entered, so it changes no long-run value.
"""


@dataclass(frozen=True)
class Explored:
    """`rates[i]` maps targets to rates in ascending order, self-loops included. `labels` and `rewards` go by
    identifier; `earned` are their names, `unearned` those of rewards that are zero everywhere. `discrete`: the rates
    are probabilities.
    """

    states: Sequence[str]
    initial: int
    rates: Rows
    labels: Mapping[str, frozenset[int]]
    rewards: Mapping[str, Column]
    names: NameMap = field(compare=False)
    unearned: tuple[str, ...] = ()
    earned: frozenset[str] = frozenset()
    discrete: bool = False

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.states)


def explored(chain: Chain) -> Explored:
    """The chain as the exporters write it."""
    names = NameMap()
    chain = in_steps(chain)
    arrays = packed(chain)
    rows = _rows(chain) if arrays is None else arrays.rows()
    labels = {
        names.identifier(name, "label"): frozenset(members) for name, members in sorted(chain.labels.items()) if members
    }
    start = {state: probability for state, probability in chain.initial if probability}
    several = len(start) > 1
    rewards: dict[str, Column] = {}
    earned, unearned = [], []
    for name, column in _columns(chain) if arrays is None else arrays.columns():
        if column.any():
            rewards[names.identifier(name, "reward")] = column.extended(Fraction(0)) if several else column
            earned.append(name)
        else:
            unearned.append(name)
    return Explored(
        (*chain.states, START) if several else chain.states,
        chain.size if several else min(start),
        rows.extended(start) if several else rows,
        labels,
        rewards,
        names,
        tuple(unearned),
        frozenset(earned),
        discrete=chain.embedded is not None,
    )


TIME = "time"
"""The reward that counts the time of a chain in discrete time."""


def in_steps(chain: Chain) -> Chain:
    """A chain in continuous time itself; an embedded one with its probabilities for rates, and with rewards per stay.

    The probabilities out of a state add up to 1 exactly, also where doubles stand for them.
    """
    if chain.embedded is None:
        return chain
    held = chain.embedded.holding
    totals = [Fraction(0)] * chain.size
    for t in chain.transitions:
        totals[t.source] += t.rate
    transitions = [replace(t, rate=t.rate / totals[t.source]) for t in chain.transitions]
    rewards = {
        name: tuple(r * h for r, h in zip(vector, held, strict=True)) for name, vector in chain.state_rewards.items()
    }
    return replace(chain, transitions=transitions, state_rewards={**rewards, TIME: held})


def _rows(chain: Chain) -> Rows:
    rates: list[dict[int, Fraction]] = [{} for _ in range(chain.size)]
    for t in chain.transitions:
        if t.rate:
            row = rates[t.source]
            row[t.target] = row.get(t.target, Fraction(0)) + t.rate
    return Rows.of(rates)


def _columns(chain: Chain) -> Iterator[tuple[str, Column]]:
    for name, vector in chain.reward_table(sorted({*chain.state_rewards, *chain.impulse_names()})).items():
        yield name, Column.of(vector)


def rationals_of(chain: Chain) -> str:
    """What the map says of numbers that are written as the rationals that they are."""
    return "rationals, next to irrational numbers of the program" if chain.is_near else "rationals, exact"


LARGEST_MAP = 20_000
"""States up to which the map says what each of them is."""


def map_text(chain: Chain, ready: Explored, extra: Mapping[str, object]) -> str:
    """`.map.json`: what every identifier and state number stands for, how each measure is made from the rewards, and
    what was lumped or cut off. Of more than `LARGEST_MAP` states there is only the number.
    """
    content = {
        "model": chain.name,
        "time": chain.timing,
        **extra,
        "names": ready.names.to_dict(),
        "measures": [_measure(ratio, ready) for ratio in chain.ratios if isinstance(ratio, Ratio)],
        "unearned_rewards": list(ready.unearned),
        "lumped": list(chain.lumped),
        "truncated": list(chain.truncated),
        "approximated": [a.text for a in chain.approximated],
        "size": ready.size,
        "states": [
            {"index": i, "state": text, "lines": list(chain.lines.get(i, ()))}
            for i, text in enumerate(ready.states if ready.size <= LARGEST_MAP else ())
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _measure(ratio: Ratio, ready: Explored) -> dict[str, object]:
    names = ready.names
    return {
        "measure": ratio.measure,
        "terms": [
            {"weight": str(weight), "reward": names.identifier(name, "reward")}
            for weight, name in _earned(ratio, ready)
        ],
        "per": _below(ratio, ready),
        **({"reason": NEVER} if _never(ratio, ready) else {}),
    }


NEVER = "no value: it is about an event that never happens"


def _earned(ratio: Ratio, ready: Explored) -> list[tuple[Fraction, str]]:
    """The terms of a measure without those that are zero, whose rewards are in no file; none where it has no value."""
    return [] if _never(ratio, ready) else [(weight, name) for weight, name in ratio.terms if name in ready.earned]


def _never(ratio: Ratio, ready: Explored) -> bool:
    """Whether the measure is one per event, and the event never happens."""
    return ratio.per is not None and ratio.per not in ready.earned


def _below(ratio: Ratio, ready: Explored) -> str | None:
    """The reward that a measure is divided by."""
    below = TIME if ratio.per is None and ready.discrete else ratio.per
    return None if below is None or below not in ready.earned else ready.names.identifier(below, "reward")


def properties_text(chain: Chain, ready: Explored) -> str:
    """`.props`: one long-run average per reward, and above them how the measures are made from these."""
    lines = [f"// approximated: {a.text}" for a in chain.approximated]
    for ratio in chain.ratios:
        if isinstance(ratio, Ratio):
            lines.append(f"// {ratio.measure} = {_formula(ratio, ready)}")
    lines += [f'R{{"{identifier}"}}=? [ S ];' for identifier in ready.rewards]
    return "\n".join(lines) + "\n"


def _formula(ratio: Ratio, ready: Explored) -> str:
    if _never(ratio, ready):
        return NEVER
    names, below, earned = ready.names, _below(ratio, ready), _earned(ratio, ready)
    terms = " + ".join(
        names.identifier(name, "reward") if weight == 1 else f"{weight} * {names.identifier(name, 'reward')}"
        for weight, name in earned
    )
    if below is None or not terms:
        return terms or "0"
    top = f"({terms})" if len(earned) > 1 else terms
    return f"{top} / {below}"
