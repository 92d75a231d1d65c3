"""Tests for room at a stage: the one question about other sessions that a closed form can answer.

An expression in `busy(s)` and `queue(s)` is a function of the number n at s. When its value changes once on the numbers
that can be met, at n = K, it asks whether there is room for the K-th job: a loss station.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from serq.closedforms.amounts import Amount, Named, number
from serq.closedforms.evaluation import Knowledge, evaluate, stages_read
from serq.ir import expr as e
from serq.ir import program as p

MOST_ROOM = 2000


@dataclass(frozen=True, slots=True)
class Room:
    """The answer to a test for room: whether `room` jobs are at the stage."""

    stage: int
    room: int
    full: bool
    symbol: Any = field(default=None, compare=False)

    @property
    def named(self) -> Named:
        """The number of places, by its name in the program where the test compares with that."""
        return number(self.room) if self.symbol is None else Named(Fraction(self.room), self.symbol)


Answers = tuple[Room, ...]
"""What a session has been told at this instant, by stage."""


def split(
    expr: e.Expr, knowledge: Knowledge, answers: Answers, kinds: Sequence[p.StageKind], most: int | None
) -> Iterator[tuple[Room | None, Answers, Knowledge]]:
    """The cases in which the expression is to be evaluated: (new answer, all answers, what is supposed).

    `most` is the largest number that a session can find at a stage, None when there is none. An expression that is no
    test for room is left as it is; its value is then unclear.
    """
    stages = stages_read(expr, knowledge)
    if len(stages) != 1 or None in stages:
        yield None, answers, knowledge
        return
    (stage,) = stages
    assert stage is not None
    kind = kinds[stage]
    told = [answer for answer in answers if answer.stage == stage]
    if told:
        yield None, answers, _told(expr, knowledge, kind, told[0])
        return
    room = _threshold(expr, knowledge, stage, kind, MOST_ROOM if most is None else most)
    if room is None:
        yield None, answers, knowledge if most is None else _suppose(knowledge, stage, kind, 0)
        return
    for full in (False, True):
        answer = Room(stage, room, full, _name(expr, room, knowledge))
        yield answer, (*answers, answer), _suppose(knowledge, stage, kind, room if full else 0)


def _name(expr: e.Expr, room: int, knowledge: Knowledge) -> Any:
    """What the test compares the number with, when that is the number of places."""
    while isinstance(expr, e.Unary):
        expr = expr.operand
    sides = (expr.left, expr.right) if isinstance(expr, e.Binary) else ()
    for side in sides:
        value = evaluate(side, knowledge)[0][1]
        if isinstance(value, Amount) and value.known and value.constant.value == room:
            return value.constant.symbol
    return None


def _suppose(knowledge: Knowledge, stage: int, kind: p.StageKind, n: int) -> Knowledge:
    servers = int(kind.servers.exact) if isinstance(kind, p.Fifo) else n
    return replace(knowledge, present={stage: (min(n, servers), max(n - servers, 0))})


def _told(expr: e.Expr, knowledge: Knowledge, kind: p.StageKind, answer: Room) -> Knowledge:
    """The knowledge after an earlier answer; unchanged (so that the value is unclear) when that does not settle it."""
    if answer.full:
        return _suppose(knowledge, answer.stage, kind, answer.room)
    first = _suppose(knowledge, answer.stage, kind, 0)
    values = (evaluate(expr, _suppose(knowledge, answer.stage, kind, n)) for n in range(1, answer.room))
    return first if all(v == evaluate(expr, first) for v in values) else knowledge


def _threshold(expr: e.Expr, knowledge: Knowledge, stage: int, kind: p.StageKind, most: int) -> int | None:
    first = evaluate(expr, _suppose(knowledge, stage, kind, 0))
    for n in range(1, most + 1):
        if evaluate(expr, _suppose(knowledge, stage, kind, n)) != first:
            return n
    return None
