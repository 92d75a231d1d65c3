"""Tests for room at a stage: the one question about other sessions that a closed form can answer.

An expression in `busy(s)` and `queue(s)` is a function of the number n at s. When it has one value below n = K and
another at K, and from there on either keeps that or has the first again (`== K`), it asks whether K jobs are there.
Where every way to s passes such a test, more than K never are: a loss station.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from serq.closedforms.amounts import Amount, Named, number
from serq.closedforms.evaluation import Knowledge, Outcomes, evaluate, stages_read
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


@dataclass(frozen=True)
class Crowd:
    """The others, as a session can meet them: the kinds of the stages, the largest number at one of them (None: there
    is none), and whether questions about them are taken as tests for room.
    """

    kinds: tuple[p.StageKind, ...]
    most: int | None
    tests: bool


Answers = tuple[Room, ...]
"""What a session has been told at this instant, by stage."""


def split(
    expr: e.Expr, knowledge: Knowledge, answers: Answers, crowd: Crowd
) -> Iterator[tuple[Room | None, Answers, Knowledge]]:
    """The cases in which the expression is to be evaluated: (new answer, all answers, what is supposed).

    An expression that is no test for room is left as it is; its value is then unclear.
    """
    stages = stages_read(expr, knowledge)
    if len(stages) != 1 or None in stages:
        yield None, answers, knowledge
        return
    (stage,) = stages
    assert stage is not None
    kind = crowd.kinds[stage]
    told = [answer for answer in answers if answer.stage == stage]
    if told:
        yield None, answers, _told(expr, knowledge, kind, told[0])
        return
    limit = MOST_ROOM if crowd.most is None else min(crowd.most, MOST_ROOM)
    values = [evaluate(expr, _suppose(knowledge, stage, kind, n)) for n in range(limit + 1)]
    room = next((n for n, value in enumerate(values) if value != values[0]), None)
    if room is None or not crowd.tests or not _is_test(values, room):
        settled = room is None and crowd.most == limit
        yield None, answers, _suppose(knowledge, stage, kind, 0) if settled else knowledge
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


def _is_test(values: Sequence[Outcomes], room: int) -> bool:
    """Whether the value changes at `room` for good, or only there."""
    later = values[room + 1 :]
    return all(v == values[room] for v in later) or all(v == values[0] for v in later)
