"""States as text that a person can read, and the program lines at which their sessions are."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from serq.ir import flow
from serq.ir import program as p
from serq.semantics.canonical import Codec
from serq.semantics.phases import WorkLaws
from serq.semantics.records import DEAD, WAITING, Record, State
from serq.semantics.symbols import Amount


class Describer:
    """Texts of states: `2 think:9, svc:8 (waiting 1st)` is two sessions thinking and one first in line."""

    def __init__(self, program: p.Program, codec: Codec, laws: WorkLaws) -> None:
        self._program = program
        self._codec = codec
        self._laws = laws
        self._marks = _marks(program)
        self._laws_at: dict[int, set[int]] = {}
        for record in codec.records:
            if record.pc != DEAD and isinstance(program.code[record.pc], p.Run):
                self._laws_at.setdefault(record.pc, set()).add(record.place[1])
        self._texts: dict[int, tuple[int, str]] = {}

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
            place = record.pc if record.pc != DEAD else len(self._program.code)
            text = self._texts[code] = place, self._text(record)
        return text

    def _line(self, code: int) -> int:
        pc = self._codec.records[code].pc
        return 0 if pc == DEAD else self._program.code[pc].span.line

    def _text(self, record: Record) -> str:
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
        stage, code, phase, rank = place
        law = self._laws.laws[code]
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

    def _named(self, names: Sequence[str], values: Sequence[Any]) -> list[str]:
        pairs = zip(names, values, strict=True)
        return [f"{name} = {self._value(value)}" for name, value in pairs if value is not None]

    def _value(self, value: Any) -> str:
        return _amount(self._codec.amounts[value[1]]) if isinstance(value, tuple) else str(value)

    def _pool(self, place: int) -> str:
        return self._program.pools[place].name


def _amount(amount: Amount) -> str:
    laws = " and ".join(f"~{draw.law.name}" for draw, _ in amount.terms)
    return f"{laws} of mean {amount.mean}"


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
