"""From the earlier form to the present one, word by word; comments and blank lines stay.

| earlier | present |
|---|---|
| `stage s : serial;` `shared (phi);` `external;` | `fifo;` `ps (phi);` `delay;` |
| `route { ... }` | `session { ... }` |
| `admit m c;` ... `free m cache l;` | `hold m (c) { ... } cache (l);` |
| `H` | `cached >= l`: the whole of what was cached last time is still there |
| `branch_p { ... }` | `branch (p) { ... }` |

An amount that is cached is a constant of the program, or it is remembered in an attribute: `H` compares with what was
cached last time, and not with what will be.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from serq.base.diagnostics import Diagnostic, Note
from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.lift import errors
from serq.lift.words import Cursor, Word, joined, stripped, words_of
from serq.syntax.parser import parse
from serq.syntax.printer import format_module

KINDS = {"serial": "fifo", "shared": "ps", "external": "delay"}
"""The kinds of stages, by their earlier names."""

_USAGE = {"admit": "admit POOL UNITS;", "free": "free POOL [cache UNITS];"}


def lift(source: SourceFile) -> str:
    """The program in the present form, laid out in the canonical way.

    LoadError with every `admit` and `free` that do not belong together, or with what is wrong with the rest.
    """
    lifted = _Lifter(source).lift()
    return format_module(parse(SourceFile(source.name, lifted)))


@dataclass
class _Hold:
    """An open `admit`. `kept` is what the hit is measured by, once its `free` is read."""

    pool: str
    word: Word
    kept: str = ""
    freed: bool = False


@dataclass
class _Block:
    """An open brace, with the holds admitted in it."""

    word: Word
    holds: list[_Hold] = field(default_factory=list)


class _Lifter:
    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.words = words_of(source)
        self.cursor = Cursor(self.words)
        self.found: list[Diagnostic] = []
        self.blocks: list[_Block] = []
        self.hits: list[tuple[int, Word, list[_Hold]]] = []
        self.last_free: dict[str, Word] = {}
        self.in_stage = False
        self.session: int | None = None
        self.remembered: dict[str, str] = {}
        plain = [word for word in self.words if word.kind not in ("SPACE", "COMMENT")]
        named = [(a.text, b.text) for a, b in pairwise(plain)]
        self.constants = {name for word, name in named if word == "let"}
        self.own_h = any(name == "H" and word in ("let", "set", "stage", "pool", "gauge") for word, name in named)

    def lift(self) -> str:
        previous = ""
        while (word := self.cursor.take()) is not None:
            self._word(word, previous)
            previous = self.cursor.last
        for place, word, holds in self.hits:
            measures = [hold.kept for hold in holds if hold.kept]
            if measures:
                self.cursor.out[place] = f"(cached >= {measures[-1]})"
            else:
                self.found.append(errors.NoHit(span=word.span))
        if self.session is not None:
            self.cursor.out[self.session] += "".join(f" set {name} = inf;" for name in self.remembered.values())
        if self.found:
            raise LoadError(self.source, sorted(self.found, key=lambda d: d.span))
        return "".join(self.cursor.out)

    def _word(self, word: Word, previous: str) -> None:
        begins = previous in ("", "{", "}", ";")
        self.in_stage = (self.in_stage and word.text not in "{;") or (begins and word.text == "stage")
        after = self.cursor.peek()
        if word.text in KINDS and previous == ":" and self.in_stage:
            self.cursor.put(KINDS[word.text])
        elif word.text in ("route", "session") and after is not None and after.text == "{" and not self.blocks:
            self._session()
        elif word.text == "admit" and begins and not self._is_option():
            self._admit(word)
        elif word.text == "free" and begins:
            self._free(word)
        elif re.match(r"branch(_|$)", word.text) and begins:
            self._branch(word)
        elif word.text == "H" and not self.own_h and word.kind == "NAME":
            self._hit(word)
        else:
            self._brace(word)
            self.cursor.put(word.text)

    def _is_option(self) -> bool:
        """Whether this `admit` is the pool's option `admit via STAGE;` of the present form."""
        via, behind = self.cursor.peek(), self.cursor.peek(2)
        return via is not None and via.text == "via" and behind is not None and behind.text == ";"

    def _session(self) -> None:
        self.cursor.put("session")
        brace = self.cursor.take()
        assert brace is not None
        self.blocks.append(_Block(brace))
        self.session = self.cursor.put("{")

    # -- blocks and holds

    def _brace(self, word: Word) -> None:
        if word.text == "{":
            self.blocks.append(_Block(word))
        elif word.text == "}" and self.blocks:
            for hold in self.blocks.pop().holds:
                if not hold.freed:
                    note = Note(message="the block ends here", span=word.span)
                    self.found.append(errors.NotFreed(span=hold.word.span, notes=(note,), pool=hold.pool))

    def _admit(self, word: Word) -> None:
        pool = self._pool()
        units = stripped(self.cursor.until(";"))
        self.cursor.take()
        if not pool or not units:
            self._incomplete(word, "the units" if pool else "the pool")
        if pool and self.blocks:
            self.blocks[-1].holds.append(_Hold(pool, word))
        self.cursor.put(f"hold {pool} (")
        self._expression(units)
        self.cursor.put(") {")

    def _free(self, word: Word) -> None:
        pool = self._pool()
        cached: list[Word] = []
        behind = self.cursor.peek()
        if behind is not None and behind.text == "cache":
            self.cursor.take()
            cached = stripped(self.cursor.until(";"))
            if not cached:
                self._incomplete(word, "the units to cache")
        end = self.cursor.take()
        if not pool or end is None or end.text != ";":
            self._incomplete(word, "`;`" if pool else "the pool")
            return
        hold = self._close(pool, word)
        self.last_free[pool] = word
        if hold is not None and cached:
            hold.kept = self._measure(pool, cached)
        self.cursor.put("}")
        if cached:
            self.cursor.put(" cache (")
            self._expression(cached)
            self.cursor.put(");")

    def _close(self, pool: str, word: Word) -> _Hold | None:
        """The hold that is freed, taken from its block; reports what is in the way."""
        here = [hold for hold in (self.blocks[-1].holds if self.blocks else []) if not hold.freed]
        if here and here[-1].pool == pool:
            self.blocks[-1].holds.remove(here[-1])
            return here[-1]
        outer = [hold for block in self.blocks for hold in block.holds if hold.pool == pool and not hold.freed]
        if not outer:
            notes = [Note(message="it was freed here", span=w.span) for p, w in self.last_free.items() if p == pool]
            self.found.append(errors.NotAdmitted(span=word.span, notes=tuple(notes), pool=pool))
            return None
        hold = outer[-1]
        hold.freed = True
        admitted = Note(message=f"`{pool}` is admitted here", span=hold.word.span)
        if hold in here:
            inner = here[-1]
            later = Note(message=f"`{inner.pool}` is admitted here", span=inner.word.span)
            self.found.append(errors.Crossing(span=word.span, notes=(admitted, later), pool=pool, inner=inner.pool))
        else:
            self.found.append(errors.OtherBlock(span=word.span, notes=(admitted,), pool=pool))
        return None

    def _measure(self, pool: str, cached: list[Word]) -> str:
        """What `H` compares with: the amount itself where it is a constant, else an attribute that remembers it."""
        names = {word.text for word in cached if word.kind == "NAME"}
        text = joined(cached)
        if names <= self.constants:
            return text if len(cached) == 1 else f"({text})"
        name = self.remembered.setdefault(pool, "kept_" + re.sub(r"\W+", "_", pool).strip("_"))
        self.cursor.put(f"set {name} = {text}; ")
        return name

    def _incomplete(self, word: Word, part: str) -> None:
        self.found.append(errors.Incomplete(span=word.span, word=word.text, part=part, usage=_USAGE[word.text]))

    def _pool(self) -> str:
        """The pool behind `admit` or `free`, with its index; empty where there is none."""
        word = self.cursor.peek()
        if word is None or word.kind != "NAME":
            return ""
        self.cursor.take()
        bracket = self.cursor.peek()
        if bracket is None or bracket.text != "[":
            return word.text
        self.cursor.take()
        index = self.cursor.until("]")
        self.cursor.take()
        return f"{word.text}[{joined(index)}]"

    # -- expressions and branches

    def _branch(self, word: Word) -> None:
        """`branch_p`, `branch_0.3`, `branch p` and `branch (p)`: the probability goes into parentheses."""
        self.cursor.put("branch (")
        rest = word.text.removeprefix("branch").removeprefix("_")
        first = (
            []
            if not rest
            else [Word("NAME" if not rest.isdigit() else "NUMBER", rest, word.span, word.end - len(rest))]
        )
        following = self.cursor.peek()
        if following is not None and following.text == "with":
            self.cursor.take()
        self._expression(stripped([*first, *self.cursor.until()]))
        self.cursor.put(") ")

    def _expression(self, words: list[Word]) -> None:
        for before, word in zip([None, *words], words, strict=False):
            if before is not None and before.end < word.start:
                self.cursor.put(" ")
            if word.text == "H" and not self.own_h:
                self._hit(word)
            else:
                self.cursor.put(word.text)

    def _hit(self, word: Word) -> None:
        holds = [hold for block in self.blocks for hold in block.holds if not hold.freed]
        self.hits.append((self.cursor.put("H"), word, holds))
