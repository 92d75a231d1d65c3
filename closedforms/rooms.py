"""Tests for room at a stage: the one question about other sessions that a closed form can answer.

An expression in `busy(s)` and `queue(s)` is a function of the number n at s. When it has one value below n = K and
another at K, and from there on either keeps that or has the first again (`== K`), it asks whether K jobs are there.
Where every way to s passes such a test, more than K never are: a loss station.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from serq.closedforms.amounts import Amount, Named, number, plain
from serq.closedforms.evaluation import Knowledge, evaluate, stages_read
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.evaluate import NoScope, Rationals, compile_expr
from serq.ir.expr import Number

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
    told = next((answer for answer in answers if answer.stage == stage), None)
    if told is not None:
        values = _values(expr, knowledge, crowd, told.room)
        settled = told.full or (values[0] is not None and _room(values) is None)
        yield None, answers, _suppose(knowledge, stage, kind, told.room * told.full) if settled else knowledge
        return
    limit = MOST_ROOM if crowd.most is None else min(crowd.most, MOST_ROOM)
    values = _values(expr, knowledge, crowd, limit + 1)
    room = _room(values)
    if room is None or not crowd.tests or not _is_test(values, room):
        settled = room is None and crowd.most == limit and values[0] is not None
        yield None, answers, _suppose(knowledge, stage, kind, 0) if settled else knowledge
        return
    for full in (False, True):
        answer = Room(stage, room, full, _name(expr, room, knowledge))
        yield answer, (*answers, answer), _suppose(knowledge, stage, kind, room if full else 0)


def _present(kind: p.StageKind, n: int) -> tuple[int, int]:
    """Jobs in service and jobs waiting, when n are there."""
    servers = int(kind.servers.exact) if isinstance(kind, p.Fifo) else n
    return min(n, servers), max(n - servers, 0)


def _suppose(knowledge: Knowledge, stage: int, kind: p.StageKind, n: int) -> Knowledge:
    return replace(knowledge, present={stage: _present(kind, n)})


def _values(expr: e.Expr, knowledge: Knowledge, crowd: Crowd, count: int) -> list[Number | None]:
    """The expression as a function of the number at the one stage that it reads, at 0, 1, ...; None where it is none.

    In numbers alone: a threshold is looked for among thousands of them.
    """
    constants = {name: constant.value for name, constant in knowledge.constants.items()}
    compiled = compile_expr(expr, Rationals(), constants)
    out: list[Number | None] = []
    for n in range(count):
        try:
            out.append(compiled(_Scope(knowledge, crowd, n)))
        except LookupError:
            out.append(None)
    return out


class _Scope(NoScope):
    """A session that finds n at whatever stage it looks at. What is no number raises LookupError."""

    def __init__(self, knowledge: Knowledge, crowd: Crowd, n: int) -> None:
        self.knowledge = knowledge
        self.crowd = crowd
        self.n = n

    def attr(self, name: str) -> Number:
        """An attribute that is a number."""
        known = plain(self.knowledge.attributes[name])
        if known is None:
            raise LookupError(name)
        return known.value

    def builtin(self, name: e.BuiltinName) -> Number:
        """A builtin that is a number."""
        return self.knowledge.builtins[name].value

    def stage_state(self, fact: e.StageFact, stage: int) -> Number:
        """Jobs in service or waiting."""
        if fact not in ("busy", "queue"):
            raise LookupError(fact)
        return Fraction(_present(self.crowd.kinds[stage], self.n)[fact == "queue"])


def _room(values: Sequence[Number | None]) -> int | None:
    """Where the value first changes."""
    return next((n for n, value in enumerate(values) if value != values[0]), None)


def _is_test(values: Sequence[Number | None], room: int) -> bool:
    """Whether the value changes at `room` for good, or only there."""
    if values[0] is None or values[room] is None:
        return False
    later = values[room + 1 :]
    return all(v == values[room] for v in later) or all(v == values[0] for v in later)


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
