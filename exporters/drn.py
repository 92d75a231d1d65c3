"""Storm's DRN format, rates and rewards as exact rationals. Storm: `storm --explicit-drn NAME.drn --exact`.

A state without a way out gets a self-loop of rate 1, which changes nothing in continuous time: Storm's exact engine
divides by the exit rate of every state, and dies of a zero.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from serq.exporters.explored import Explored, explored, map_text, properties_text
from serq.ir.chain import Chain


@dataclass(frozen=True)
class Drn:
    """One DRN file, with its properties and its map."""

    name: str = "drn"
    suffixes: tuple[str, ...] = (".drn", ".props", ".map.json")

    def emit(self, subject: Chain, stem: str) -> Mapping[str, str]:
        """The texts by file name."""
        ready = explored(subject)
        return {
            f"{stem}.drn": drn_text(ready),
            f"{stem}.props": properties_text(subject, ready),
            f"{stem}.map.json": map_text(subject, ready, {"format": self.name, "numbers": "rationals, exact"}),
        }


def drn_text(ready: Explored) -> str:
    """The chain as DRN. The number behind `!` is the exit rate, those behind `:` are rates, not probabilities."""
    return "\n".join(_lines(ready)) + "\n"


def _lines(ready: Explored) -> Iterator[str]:
    yield from (f"@type: {'DTMC' if ready.discrete else 'CTMC'}", "@value_type: rational", "@parameters", "")
    if ready.rewards:
        yield from ("@reward_models", " ".join(ready.rewards))
    yield from ("@nr_states", str(ready.size), "@nr_choices", str(ready.size), "@model")
    vectors = tuple(ready.rewards.values())
    labels = sorted((state, name) for name, members in ready.labels.items() for state in members)
    of_state: dict[int, list[str]] = {}
    for state, name in labels:
        of_state.setdefault(state, []).append(name)
    for state, row in enumerate(ready.rates):
        row = row or {state: Fraction(1)}
        words = [f"state {state}"] if ready.discrete else [f"state {state} !{sum(row.values(), Fraction(0))}"]
        if vectors:
            words.append(f"[{','.join(str(vector[state]) for vector in vectors)}]")
        words += ["init"] if state == ready.initial else []
        words += of_state.get(state, [])
        yield " ".join(words)
        yield "\taction 0"
        yield from (f"\t\t{target} : {rate}" for target, rate in row.items())
