"""The program for pairs of runs: one event of it may go the other way, and what its stage is asked for is observed.

Every passage draws what the run works and what it would work instead, so that a pair of runs goes on with the same
random numbers behind the event. Two exponential amounts are made of one draw: the longer one is longer for certain.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from serq.check.overrides import OverrideValue
from serq.ir import program as p
from serq.pipeline import load_text
from serq.studies.event import CHANGED, KEPT, Edit, edited, event_edits, instead, offsets, statement_of

WORK, OTHER, ALL = "event_work", "event_other_work", "event_stage_work"
"""Observes: what the run works, what it would work instead, what any run at the same stage works."""
_OBSERVE = f"observe {WORK} = event_amount; observe {OTHER} = event_instead; observe {ALL} = event_amount;"
_EXPONENTIAL = re.compile(r"~exp\((.*)\)", re.DOTALL)


@dataclass(frozen=True)
class Twin:
    """The program with a branch that is an event; its statement, and the place of its stage.

    The stage of an event at a hold is the first one in it where sessions share something, None where there is none; its
    works are known of the pairs of runs only.
    """

    program: p.Program
    event: str
    statement: p.Run | p.Hold
    stage: int | None

    @property
    def works(self) -> bool:
        """Whether every passage shows what is worked and what would be worked instead."""
        return isinstance(self.statement, p.Run)


def twin(program: p.Program, overrides: Mapping[str, OverrideValue], event: str, at: str | None) -> Twin:
    """The program for pairs of runs. UsageError for an event or a place that is none, LoadError for its work."""
    statement = statement_of(program, event, at)
    text = program.source.text
    stage: int | None
    if isinstance(statement, p.Run):
        stage, edits = (
            statement.stage.base,
            [Edit(*offsets(text, statement.span), _both(text, statement, instead(event)))],
        )
    else:
        stage, edits = _first_stage(program, statement), event_edits(program, statement, event)
    for run in program.code:
        if isinstance(run, p.Run) and run.stage.base == stage and run.phase != "decode" and run.span != statement.span:
            edits.append(Edit(*offsets(text, run.span), _observed(text, run)))
    made = load_text(edited(text, edits), program.source.name, overrides).program
    return Twin(_marked(made), event, statement, stage)


def _first_stage(program: p.Program, hold: p.Hold) -> int | None:
    """The place of the first stage within a hold that is no delay."""
    start = program.code.index(hold)
    for step in program.code[start : hold.release]:
        if isinstance(step, p.Run) and not isinstance(program.stages[step.stage.base].kind, p.Delay):
            return step.stage.base
    return None


def _marked(program: p.Program) -> p.Program:
    """The branch in front of what is observed of the event is the event."""
    code = list(program.code)
    for pc, (x, after) in enumerate(zip(program.code, program.code[1:], strict=False)):
        if isinstance(x, p.Branch) and isinstance(after, p.Observe) and after.name == KEPT:
            code[pc] = replace(x, event=True)
    return replace(program, code=tuple(code))


def _amount(text: str, run: p.Run) -> str:
    first, last = offsets(text, run.work.span)
    return text[first:last]


def _run(text: str, run: p.Run, amount: str) -> str:
    """The statement with another amount of work."""
    start, end = offsets(text, run.span)
    first, last = offsets(text, run.work.span)
    return text[start:first] + amount + text[last:end]


def _observed(text: str, run: p.Run) -> str:
    amount = _amount(text, run)
    return f"set event_amount = {amount}; observe {ALL} = event_amount; {_run(text, run, 'event_amount')}"


def _both(text: str, run: p.Run, other: str) -> str:
    kept = f"{{ observe {KEPT} = 1; {_run(text, run, 'event_amount')} }}"
    changed = f"{{ observe {CHANGED} = 1; {_run(text, run, 'event_instead')} }}"
    amounts = _amounts(_amount(text, run), other)
    return f"{amounts} {_OBSERVE} branch (0.5) {kept} else {changed}"


def _amounts(amount: str, other: str) -> str:
    """Both amounts of work as attributes."""
    means = [_mean(text) for text in (amount, other)]
    if None in means:
        return f"set event_amount = {amount}; set event_instead = {other};"
    luck = "set event_luck = ~exp(1);"
    return f"{luck} set event_amount = ({means[0]}) * event_luck; set event_instead = ({means[1]}) * event_luck;"


def _mean(amount: str) -> str | None:
    """The mean of what is one exponential draw and nothing else."""
    found = _EXPONENTIAL.fullmatch(amount.strip())
    if found is None:
        return None
    depth = 0
    for letter in found[1]:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return None
    return found[1]
