"""Random texts of restricted Python: a few functions over a record with arrays, with values of every type.

Most texts run without a fault, because indices are masked and numbers mostly small; some do not, and then every checked
build must stop at the same place.
"""

from random import Random

NAMES = """\
from typing import Annotated

from serq.codegen.lang import (
    F64Array, I64Array, U64Array, bits_of, ceil, cold, f64, fabs, float_of, floor, i64, inline, lanes, sqrt, u64)
"""
NAMES_LINES = NAMES.count("\n")

HEAD = """
MASK = 0xFFFFFFFFFFFFFFFF
NAN = float("nan")
INF = float("inf")
WHOLE = (3, -1, 4, -1, 5, -9, 2**62, -6)
REAL = (0.5, -0.0, 1e300, float("inf"), -2.75, 5e-324, 1.0, float("nan"))
WORDS = (0, 1, 2**63, 2**64 - 1, 12345678901234567890, 7, 8, 9)

class Inner:
    count: i64
    real: F64Array

class State:
    level: f64
    number: i64
    word: u64
    inner: Inner
    whole: Annotated[I64Array, "pair"]
    words: Annotated[U64Array, "pair"]
"""

TYPES = ("i64", "u64", "f64", "bool")
SIZE = 8
_SMALL = ["0", "1", "2", "3", "-1", "-2", "7", "10"]
_REAL = ["0.0", "-0.0", "1.5", "-2.25", "1e-320", "1e308", "3.7", "NAN", "INF", "-INF", "9007199254740992.0"]
_WORD = ["0", "1", "255", "MASK", "0x9E3779B97F4A7C15", "(1 << 63)"]


class Writer:
    """Writes one module; `random` decides everything."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.functions: list[tuple[str, str]] = []

    def module(self, count: int) -> str:
        """The text of a module with `count` exported functions f0, f1, ... of (State, i64, u64, f64, bool)."""
        parts = [NAMES, HEAD]
        for k in range(count):
            if self.random.random() < 0.6:
                parts.append(self.function(f"g{k}", self.pick(TYPES), helper=True))
            parts.append(self.function(f"f{k}", self.pick(TYPES), helper=False))
        return "\n".join(parts)

    def function(self, name: str, returns: str, helper: bool) -> str:
        """One function; helpers can be called by those that follow."""
        self.names = {"i64": ["a"], "u64": ["b"], "f64": ["c"], "bool": ["d"]}
        self.assigned = {t: list(v) for t, v in self.names.items()}
        self.fresh = 0
        self.returns = returns
        self.in_loop = 0
        mark = self.pick(["", "", "@cold\n", "@inline\n"]) if helper else ""
        lines = [*self.block(3, 1), "    return " + self.expression(returns, 3)]
        if helper:
            self.functions.append((name, returns))
        return f"{mark}def {name}(s: State, a: i64, b: u64, c: f64, d: bool) -> {returns}:\n" + "\n".join(lines) + "\n"

    # -- statements --------------------------------------------------------------------------------------------------

    def block(self, size: int, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, size)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        pad = "    " * depth
        kind = self.random.random()
        if kind < 0.35 or depth > 3:
            return [pad + self.assignment()]
        if kind < 0.5:
            return [pad + self.update()]
        if kind < 0.6:
            return [pad + self.store()]
        if kind < 0.75:
            return self.branch(depth)
        if kind < 0.9:
            return self.loop(depth)
        if self.in_loop and kind < 0.95:
            return [f"{pad}if {self.expression('bool', 2)}:", f"{pad}    {self.pick(['break', 'continue'])}"]
        return [f"{pad}if {self.expression('bool', 2)}:", f"{pad}    return {self.expression(self.returns, 2)}"]

    def assignment(self) -> str:
        kind = self.pick(TYPES)
        value = self.expression(kind, 3)
        if self.random.random() < 0.5 and not self.in_loop:
            self.fresh += 1
            name = f"x{self.fresh}"
            self.assigned[kind].append(name)
            return f"{name}: {kind} = {value}"
        return f"{self.pick(self.names[kind])} = {value}"

    def update(self) -> str:
        kind = self.pick(("i64", "u64", "f64"))
        target = self.place(kind)
        if kind == "f64":
            return f"{target} {self.pick(['+=', '-=', '*=', '/='])} {self.expression('f64', 2)}"
        if kind == "u64":
            value = f"({self.expression('u64', 2)} | s.words[1])"
            return f"{target} {self.pick(['^=', '&=', '|=', '%=', '//='])} {value}"
        op = self.pick(["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", ">>="])
        value = self.pick(["1", "3", "63", "0"]) if op == ">>=" else self.small(2)
        if op in ("//=", "%="):
            value = f"(({value}) | s.whole[0])"
        return f"{target} {op} {value}"

    def place(self, kind: str) -> str:
        fields = {"i64": ["s.number", "s.inner.count"], "u64": ["s.word"], "f64": ["s.level"]}
        arrays = {"i64": "s.whole", "u64": "s.words", "f64": "s.inner.real"}
        if self.random.random() < 0.4:
            return f"{arrays[kind]}[{self.index()}]"
        return self.pick([*fields[kind], *self.names[kind]])

    def store(self) -> str:
        kind = self.pick(("i64", "u64", "f64"))
        return f"{self.place(kind)} = {self.expression(kind, 3)}"

    def branch(self, depth: int) -> list[str]:
        pad = "    " * depth
        lines = [f"{pad}if {self.expression('bool', 3)}:", *self.inside(depth)]
        if self.random.random() < 0.3:
            lines += [f"{pad}elif {self.expression('bool', 2)}:", *self.inside(depth)]
        if self.random.random() < 0.5:
            lines += [f"{pad}else:", *self.inside(depth)]
        return lines

    def inside(self, depth: int) -> list[str]:
        before = {t: list(v) for t, v in self.assigned.items()}
        lines = self.block(2, depth + 1)
        self.assigned = before
        return lines

    def loop(self, depth: int) -> list[str]:
        pad = "    " * depth
        self.in_loop += 1
        if self.random.random() < 0.5:
            self.fresh += 1
            name = f"i{self.fresh}"
            bounds = self.pick(["4", "2, 5", "a & 7", "3, 1"])
            before = {t: list(v) for t, v in self.assigned.items()}
            self.assigned["i64"].append(name)
            lines = [f"{pad}for {name} in range({bounds}):", *self.block(2, depth + 1)]
            self.assigned = before
        else:
            self.fresh += 1
            fuel = f"n{self.fresh}"
            lines = [f"{pad}{fuel} = 0", f"{pad}while {fuel} < 6 and {self.expression('bool', 2)}:",
                     f"{pad}    {fuel} += 1", *self.inside(depth)]  # fmt: skip
        self.in_loop -= 1
        return lines

    # -- expressions -------------------------------------------------------------------------------------------------

    def pick(self, options):
        return self.random.choice(options)

    def index(self) -> str:
        name = self.pick(self.assigned["i64"])
        if self.random.random() < 0.01:
            return name
        return self.pick([str(self.random.randrange(SIZE)), "int(b & 7)", f"{name} & 7", f"({name} ^ s.number) & 7"])

    def small(self, depth: int) -> str:
        """An `i64` that is mostly small."""
        if depth <= 0 or self.random.random() < 0.5:
            return self.pick([*_SMALL, "a & 15", "s.number % 100", "WHOLE[a & 3]"])
        return f"({self.expression('i64', depth - 1)}) % {self.pick(['97', '1000', '-13', '8'])}"

    def leaf(self, kind: str) -> str:
        if self.random.random() < 0.45:
            return self.pick(self.assigned[kind])
        index = self.index()
        return self.pick({
            "i64": [*_SMALL, "s.number", "s.inner.count", f"s.whole[{index}]", f"WHOLE[{index}]"],
            # literals alone would be no u64
            "u64": [f"({self.pick(_WORD)} & s.words[3])", "s.word", f"s.words[{index}]", f"WORDS[{index}]"],
            "f64": [*_REAL, "s.level", "s.level", f"s.inner.real[{index}]", f"REAL[{index}]"],
            "bool": ["True", "False"],
        }[kind])  # fmt: skip

    def expression(self, kind: str, depth: int) -> str:
        """The text of an expression of a type, in parentheses where it needs them."""
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf(kind)
        helpers = [name for name, returns in self.functions if returns == kind]
        if helpers and self.random.random() < 0.1:
            arguments = ", ".join(self.expression(t, depth - 2) for t in TYPES)
            return f"{self.pick(helpers)}(s, {arguments})"
        if self.random.random() < 0.1:
            yes, no = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
            return f"({yes} if {self.expression('bool', depth - 1)} else {no})"
        return {"i64": self._i64, "u64": self._u64, "f64": self._f64, "bool": self._bool}[kind](depth - 1)

    def _i64(self, depth: int) -> str:
        def x() -> str:
            return self.expression("i64", depth)

        def y() -> str:
            return f"({self.small(depth)})"

        op = self.pick(["+", "-", "&", "|", "^", ">>"])
        shift = self.pick(["0", "1", "5", "63", f"(({self.small(0)}) & 7)"])
        return self.pick([
            lambda: f"({x()} {op} {shift if op == '>>' else y()})",
            lambda: f"({y()} {self.pick('+-*')} {y()})",
            lambda: f"({x()} {self.pick(['//', '%'])} ({y()} | s.whole[0]))",
            lambda: f"({y()} << {self.pick(['0', '1', '5', '(a & 7)'])})",
            lambda: f"(~{x()})",
            lambda: f"(-{y()})",
            lambda: f"{self.pick(['min', 'max'])}({x()}, {y()})",
            lambda: f"int(min(max({self.expression('f64', depth)}, -1e6), 1e6))",
            lambda: f"int({self.expression('u64', depth)} >> 1)",
            lambda: f"int({self.expression('bool', depth)})",
        ])()  # fmt: skip

    def _u64(self, depth: int) -> str:
        def x() -> str:
            return self.expression("u64", depth)

        count = self.pick(["0", "1", "17", "63", f"(({self.small(1)}) & 63)"])
        name = self.pick(self.assigned["f64"])
        return self.pick([
            lambda: f"(({x()} {self.pick('+-*')} {x()}) & MASK)",
            lambda: f"({x()} {self.pick('&|^')} {x()})",
            lambda: f"({x()} {self.pick(['//', '%'])} ({x()} | s.words[1]))",
            lambda: f"(({x()} << {count}) & MASK)",
            lambda: f"({x()} >> {count})",
            lambda: f"({self.pick('~-')}{x()} & MASK)",
            lambda: f"bits_of({name} if {name} == {name} else 1.0)",
            lambda: f"({self.expression('i64', depth)} & {x()})",
            lambda: f"{self.pick(['min', 'max'])}({x()}, {x()})",
            lambda: f"(((({x()} << 23) | ({x()} >> 41)) + {self.expression('i64', depth)} * {x()}) & MASK)",
        ])()  # fmt: skip

    def _f64(self, depth: int) -> str:
        def x() -> str:
            return self.expression("f64", depth)

        name = self.pick(self.assigned["f64"])
        return self.pick([
            lambda: f"({x()} {self.pick('+-*')} {x()})",
            lambda: f"({x()} {self.pick('+-*')} {x()})",
            lambda: f"({x()} / ({name} if fabs({name}) > 0.0 else 2.0))",
            lambda: f"{self.pick(['-', 'floor', 'ceil', 'fabs'])}({x()})",
            lambda: f"sqrt(fabs({x()}))",
            lambda: f"{self.pick(['min', 'max'])}({x()}, {x()})",
            lambda: f"float({self.expression(self.pick(['i64', 'u64']), depth)})",
            lambda: f"({x()} {self.pick('+-*')} {self.expression(self.pick(['i64', 'u64']), depth)})",
            lambda: f"({self.expression(self.pick(['i64', 'u64']), depth)} {self.pick('+-*')} {x()})",
            lambda: f"float_of({self.expression('u64', depth)})",
        ])()  # fmt: skip

    def _bool(self, depth: int) -> str:
        kind = self.pick(["i64", "u64", "f64", "f64"])

        def x() -> str:
            return self.expression(kind, depth)

        def p() -> str:
            return self.expression("bool", depth)

        relation = self.pick(["<", "<=", ">", ">=", "==", "!="])
        return self.pick([
            lambda: f"({x()} {relation} {x()})",
            lambda: f"({x()} {relation} {x()})",
            lambda: f"({x()} < {self.pick(self.assigned[kind])} {relation} {x()})",
            lambda: f"({p()} and {p()})",
            lambda: f"({p()} or {p()})",
            lambda: f"(not {p()})",
        ])()  # fmt: skip
