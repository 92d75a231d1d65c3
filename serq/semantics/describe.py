"""States as text that a person can read, and the program lines at which their sessions are."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from serq.ir import flow
from serq.ir import program as p
from serq.semantics.canonical import Codec
from serq.semantics.phases import WorkLaws
from serq.semantics.records import CLOCK, DEAD, WAITING, Record, State
from serq.semantics.symbols import Amount
from serq.semantics.timed_laws import Lasting


class Describer:
    """Texts of states: `2 think:9, svc:8 (waiting 1st)` is two sessions thinking and one first in line."""

    def __init__(self, program: p.Program, codec: Codec, laws: WorkLaws) -> None:
        self._program = program
        self._codec = codec
        self._laws = laws
        self._marks = _marks(program)
        self._laws_at: dict[int, set[int]] = {}
        for record in codec.records:
            if record.pc >= 0 and self._has_law(record):
                self._laws_at.setdefault(record.pc, set()).add(record.place[1])
        self._texts: dict[int, tuple[int, str]] = {}

    def _has_law(self, record: Record) -> bool:
        """Whether it is a job whose work has a law, and no resident of a step stage."""
        if not isinstance(self._program.code[record.pc], p.Run):
            return False
        return not isinstance(self._program.stages[record.place[0]].kind, p.Step)

    def state(self, state: State) -> str:
        """The state's records in the order of the program, equal ones counted."""
        texts = Counter(sorted(self._ordered(code) for code in state))
        return ", ".join(text if k == 1 else f"{k} {text}" for (_, text), k in texts.items()) or "empty"

    def lines(self, state: State) -> tuple[int, ...]:
        """The lines at which the sessions of the state are, each once."""
        return tuple(sorted({self._line(code) for code in state} - {0}))

    def _ordered(self, code: int) -> tuple[int, str]:
        """The text of a record, behind its place in the program."""
        text = self._texts.get(code)
        if text is None:
            record = self._codec.records[code]
            place = record.pc if record.pc >= 0 else len(self._program.code)
            text = self._texts[code] = place, self._text(record)
        return text

    def _line(self, code: int) -> int:
        pc = self._codec.records[code].pc
        return 0 if pc < 0 else self._program.code[pc].span.line

    def _text(self, record: Record) -> str:
        if record.pc == CLOCK:
            return self._clock(record)
        if record.pc == DEAD:
            pool, units, rank = record.entries[0]
            notes = self._named(self._codec.owner_names, record.values)
            return _with(f"dead {units} in {self._pool(pool)}", [f"age rank {rank}", *notes])
        notes = self._named(self._codec.names[record.pc], record.values)
        for scope in record.scopes:
            held = ", ".join(f"{u} of {self._pool(m)}" for m, u in zip(scope[1::2], scope[2::2], strict=True))
            notes.append(f"holds {held}" + (f", admitted {_ordinal(scope[0])}" if scope[0] else ""))
        for pool, units, rank in record.entries:
            notes.append(f"{units} cached in {self._pool(pool)}" + (f", age rank {rank}" if rank != WAITING else ""))
        notes += _of_steps(record)
        where, how = self._place(record)
        return _with(where + self._marks[record.pc], [*how, *notes])

    def _place(self, record: Record) -> tuple[str, list[str]]:
        match self._program.code[record.pc]:
            case p.Run():
                return self._at_stage(record.pc, record.place)
            case p.Hold():
                pool, rank, *pools = record.place
                more = f" and {', '.join(self._pool(m) for m in pools[1:])}" if len(pools) > 1 else ""
                rank_text = _ordinal(rank + 1) if rank >= 0 else f"{_ordinal(-rank)} last of the preempted"
                return f"queue of {self._pool(pool)}{more}", [rank_text]
            case _:
                pool, rank, _, _, units = record.place
                return f"growing in {self._pool(pool)}", [f"by {units}", _ordinal(rank + 1)]

    def _at_stage(self, pc: int, place: tuple[Any, ...]) -> tuple[str, list[str]]:
        stage = place[0]
        if isinstance(self._program.stages[stage].kind, p.Step):
            return self._program.stages[stage].name, _resident(place)
        code, phase, rank = place[1:4]
        law = self._laws.laws[code]
        if len(place) == 5:
            law_text = [_amount(law.amount)] if len(self._laws_at[pc]) > 1 else []
            return self._program.stages[stage].name, [f"{place[2]} to go", *law_text]
        notes = []
        if phase == WAITING:
            notes.append(f"waiting {_ordinal(rank + 1)}")
        elif len(law.symbols) > 1:
            notes.append(f"phase {phase + 1} of {len(law.symbols)}")
        if phase != WAITING and rank != WAITING:
            notes.append(f"started {_ordinal(rank + 1)}")
        if len(self._laws_at[pc]) > 1:
            notes.append(_amount(law.amount))
        return self._program.stages[stage].name, notes

    def _clock(self, record: Record) -> str:
        stage, _, left, _ = record.place
        return f"next arrival in {left}" if stage < 0 else f"iteration of {self._program.stages[stage].name} for {left}"

    def _named(self, names: Sequence[str], values: Sequence[Any]) -> list[str]:
        pairs = zip(names, values, strict=True)
        return [f"{name} = {self._value(value)}" for name, value in pairs if value is not None]

    def _value(self, value: Any) -> str:
        return _amount(self._codec.amounts[value[1]]) if isinstance(value, tuple) else str(value)

    def _pool(self, place: int) -> str:
        return self._program.pools[place].name


def _amount(amount: Amount) -> str:
    laws = " and ".join(f"~{draw.law.name}" for draw, _ in amount.terms) or "time"
    return f"{laws} of mean {amount.mean}"


def _resident(place: tuple[Any, ...]) -> list[str]:
    """What is said of a resident of a step stage."""
    _, tokens, phase, kind, order, given, _, _ = place
    left = "some" if isinstance(tokens, Lasting) else str(tokens)
    notes = [f"{phase}, {left} to go", f"{given} in this iteration" if given else "not in this iteration"]
    return [*notes, _ordinal(order + kind)]


def _of_steps(record: Record) -> list[str]:
    if not record.more:
        return []
    admission, positions = record.more
    notes = [f"latest admission {_ordinal(admission)}"] if admission else []
    return notes + [f"computed {consumed if position is None else position}" for *_, position, consumed in positions]


def _marks(program: p.Program) -> dict[int, str]:
    """By instruction: its line, and the column too where the line has several places to rest at."""
    places = {pc: x.span for pc, x in enumerate(program.code) if flow.is_rest(program, pc)}
    shared = Counter(span.line for span in places.values())
    return {
        pc: f"#{pc}" if not s.line else f":{s.line}" if shared[s.line] == 1 else f":{s.line}:{s.column}"
        for pc, s in places.items()
    }


def _with(text: str, notes: Sequence[str]) -> str:
    return f"{text} ({'; '.join(notes)})" if notes else text


def _ordinal(n: int) -> str:
    tail = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{tail}"
