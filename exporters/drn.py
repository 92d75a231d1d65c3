"""Storm's DRN format, rates and rewards as exact rationals. Storm: `storm --explicit-drn NAME.drn --exact`.

A state without a way out gets a self-loop of rate 1, which changes nothing in continuous time: Storm's exact engine
divides by the exit rate of every state, and dies of a zero.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from serq.exporters.explored import Explored, explored, map_text, properties_text, rationals_of
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
            f"{stem}.map.json": map_text(subject, ready, {"format": self.name, "numbers": rationals_of(subject)}),
        }


def drn_text(ready: Explored) -> str:
    """The chain as DRN. The number behind `!` is the exit rate, those behind `:` are rates, not probabilities."""
    return "\n".join(_lines(ready)) + "\n"


def _lines(ready: Explored) -> Iterator[str]:
    yield from (f"@type: {'DTMC' if ready.discrete else 'CTMC'}", "@value_type: rational", "@parameters", "")
    if ready.rewards:
        yield from ("@reward_models", " ".join(ready.rewards))
    yield from ("@nr_states", str(ready.size), "@nr_choices", str(ready.size), "@model")
    labels = sorted((state, name) for name, members in ready.labels.items() for state in members)
    of_state: dict[int, list[str]] = {ready.initial: ["init"]}
    for state, name in labels:
        of_state.setdefault(state, []).append(name)
    rows = ready.rates.looped()
    heads = ["" if ready.discrete else f" !{total}" for total in rows.sums().texts()]
    earned = list(zip(*(column.texts() for column in ready.rewards.values()), strict=True))
    numbers, targets, begin = rows.numbers.texts(), rows.targets.tolist(), rows.begin.tolist()
    for state, head in enumerate(heads):
        words = [f"state {state}{head}"]
        if earned:
            words.append(f"[{','.join(earned[state])}]")
        yield " ".join([*words, *of_state.get(state, ())])
        yield "\taction 0"
        yield from (f"\t\t{targets[i]} : {numbers[i]}" for i in range(begin[state], begin[state + 1]))
