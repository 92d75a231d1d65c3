"""A program as counters: constants, bounded integers, guarded commands, labels and rewards, its expressions as texts.

This is what PRISM text and JANI have in common; each of the two only writes it down.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from serq.exporters.text import Piece


@dataclass(frozen=True, slots=True)
class ConstantDeclaration:
    """A constant, `int` or `double`; `value` None: it is open."""

    kind: str
    name: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer from 0 to `largest`; `note` says what it counts."""

    name: str
    largest: str
    initial: str
    note: str


@dataclass(frozen=True, slots=True)
class Branch:
    """A way out of a command: its rate, and the new values of variables."""

    rate: str
    updates: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Command:
    """What can happen where all the guards hold. `immediate`: it happens at once, the rates are probabilities."""

    guards: tuple[str, ...]
    branches: tuple[Branch, ...]
    immediate: bool = False


@dataclass
class Reward:
    """A reward structure: guards and what is earned per unit of time where they hold."""

    identifier: str
    meaning: str
    items: list[tuple[str, Piece]] = field(default_factory=list)


@dataclass(frozen=True)
class CounterModel:
    """The whole model. `formulas` and `labels` are pairs of a name and a text; `remarks` are for people. `requires` are
    tests of the constants: for others the model means nothing and has to be refused.
    """

    remarks: tuple[str, ...]
    constants: tuple[ConstantDeclaration, ...]
    formulas: tuple[tuple[str, str], ...]
    variables: tuple[Variable, ...]
    commands: tuple[Command, ...]
    labels: tuple[tuple[str, str], ...]
    rewards: tuple[Reward, ...]
    requires: tuple[str, ...] = ()

    @property
    def immediate(self) -> bool:
        """Whether something happens at once: the model is a Markov automaton, else a continuous-time chain."""
        return any(command.immediate for command in self.commands)


def prism_text(model: CounterModel) -> str:
    """The model as PRISM text."""
    parts = [
        [f"// {remark}" for remark in model.remarks],
        ["ma" if model.immediate else "ctmc"],
        [_constant(constant) for constant in model.constants],
        [f"formula {name} = {text};" for name, text in model.formulas],
        _module(model),
        [f'label "{name}" = {text};' for name, text in model.labels],
        *(_reward(reward) for reward in model.rewards),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _constant(constant: ConstantDeclaration) -> str:
    value = "" if constant.value is None else f" = {constant.value}"
    return f"const {constant.kind} {constant.name}{value};"


def _module(model: CounterModel) -> list[str]:
    out = ["module sessions"]
    out += [f"  {v.name} : [0..{v.largest}] init {v.initial}; // {v.note}" for v in model.variables]
    out.append("")
    for command in model.commands:
        branches = " + ".join(f"{b.rate} : {_updates(b.updates)}" for b in command.branches)
        sign = "<>" if model.immediate and not command.immediate else "[]"
        out.append(f"  {sign} {' & '.join(command.guards) or 'true'} -> {branches};")
    # A negative rate is an error in every tool, which a range without a value is not.
    for test in model.requires:
        sign = "<>" if model.immediate else "[]"
        out.append(f"  {sign} !({test}) -> ({test} ? 1 : -1) : true; // refuses other constants")
    return [*out, "endmodule"]


def _updates(updates: Sequence[tuple[str, str]]) -> str:
    return " & ".join(f"({name}' = {value})" for name, value in updates) or "true"


def _reward(reward: Reward) -> list[str]:
    lines = [f'rewards "{reward.identifier}" // {reward.meaning}']
    # A structure with no item at all is refused by some tools; one that earns nothing is not.
    lines += [f"  {guard} : {value};" for guard, value in reward.items or [("false", Piece("0"))]]
    return [*lines, "endrewards"]
