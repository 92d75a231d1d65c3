"""Which constants of a program are declared in an export, as what, and which of them stay open."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from serq.exporters.counters import ConstantDeclaration
from serq.exporters.names import NameMap
from serq.exporters.partial import Partial, UnknownValueError
from serq.exporters.text import NoTextError, Piece, Printer, literal
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.expr import Number


class Constants:
    """Hands out identifiers of constants and declares those that were used.

    A `let` that depends on no other stays open; one that is an expression of other lets keeps its expression. One that
    shapes the structure (`Partial.shaping`) is fixed at its value.
    """

    def __init__(self, program: p.Program, partial: Partial, names: NameMap, keep_open: frozenset[str] | None) -> None:
        self.program = program
        self.partial = partial
        self.names = names
        self.keep_open = keep_open
        self.used: list[str] = []
        self._integers: set[str] = set()
        for stage in program.stages:
            if isinstance(stage.kind, p.Fifo):
                self._keep_whole(stage.kind.servers)

    @property
    def integers(self) -> frozenset[str]:
        """The identifiers that are declared `int`."""
        return frozenset(self.names.identifier(n, "constant") for n in self._integers if n in self.used)

    def use(self, name: str) -> str:
        """The identifier of a constant, which will be declared; what its value is made of comes first."""
        if name not in self.used:
            constant = self.program.constant(name)
            if not self._is_literal(constant) and not self._fixed(name):
                for inner in e.walk(constant.folded.expr):
                    if isinstance(inner, e.Const):
                        self.use(inner.name)
            self.used.append(name)
        return self.names.identifier(name, "constant", (self.program.constant(name).span.line,))

    def fix(self, names: Iterable[str]) -> None:
        """Keep these constants at their values, and what their values are made of."""
        for name in names:
            self.partial.shaping.add(name)
            self.fix(_named(self.program.constant(name).folded.expr))

    def whole(self, folded: p.Folded) -> Piece:
        """The text of a population or limit; its constants are integers."""
        return self._printer().number(folded.expr) if self._keep_whole(folded) else literal(Fraction(folded.exact))

    def is_open(self, folded: p.Folded) -> bool:
        """Whether a constant that stays open is in the expression."""
        return self.opens(folded.expr)

    def opens(self, expr: e.Expr) -> bool:
        """Whether the expression has a constant that stays open."""
        return any(map(self._varies, _named(expr)))

    def _varies(self, name: str) -> bool:
        if self._fixed(name):
            return False
        constant = self.program.constant(name)
        return self._is_literal(constant) or self.is_open(constant.folded)

    def _keep_whole(self, folded: p.Folded) -> bool:
        """Declare the constants of a count as integers; where it would be whole for some of their values only, they are
        fixed, and the answer is False.
        """
        if self._is_whole(folded):
            self._mark_integer(folded)
            return True
        self.partial.shaping |= _named(folded.expr)
        return False

    def _is_whole(self, folded: p.Folded) -> bool:
        """Whether the expression is whole for all whole values of its constants."""
        nodes = e.walk(folded.expr)
        names = _named(folded.expr)
        return (
            not any(isinstance(n, e.Binary) and n.op in ("/", "%") for n in nodes)
            and all(Fraction(n.value).denominator == 1 for n in nodes if isinstance(n, e.Num))
            and all(Fraction(self.program.constant(n).folded.exact).denominator == 1 for n in names)
            and all(self._is_whole(c.folded) for c in map(self.program.constant, names) if not self._is_literal(c))
        )

    def _mark_integer(self, folded: p.Folded) -> None:
        for name in _named(folded.expr):
            self._integers.add(name)
            if not self._is_literal(self.program.constant(name)):
                self._mark_integer(self.program.constant(name).folded)

    def _printer(self) -> Printer:
        def state(node: e.StageState | e.PoolState | e.Context) -> Piece:
            raise NoTextError("a constant")

        return Printer(self.use, state)

    @staticmethod
    def _is_literal(constant: p.Constant) -> bool:
        return constant.overridden or not _named(constant.folded.expr)

    def _fixed(self, name: str) -> bool:
        """Whether it has a number; what follows from others only where they have, and what a fixed one follows from."""
        constant = self.program.constant(name)
        if isinstance(constant.folded.exact, float) or name in self._shaping():
            return True
        asked = self.keep_open is None or name in self.keep_open
        return not asked and (self._is_literal(constant) or not self.is_open(constant.folded))

    def _shaping(self) -> set[str]:
        """The constants that shape the structure, and those that these follow from."""
        out: set[str] = set()
        todo = set(self.partial.shaping)
        while todo:
            out |= todo
            inner = [self.program.constant(n) for n in todo]
            todo = {n for c in inner if not self._is_literal(c) for n in _named(c.folded.expr)} - out
        return out

    def closed_names(self) -> list[str]:
        """The declared constants that had to be fixed."""
        shaping = self._shaping()
        return [c.name for c in self.program.constants if c.name in shaping]

    def open_values(self) -> Mapping[str, Number]:
        """The identifiers that are left open, with the program's values."""
        out = {}
        for name in self.used:
            constant = self.program.constant(name)
            if self._is_literal(constant) and not self._fixed(name):
                out[self.names.identifier(name, "constant")] = constant.folded.exact
        return out

    def declarations(self) -> list[ConstantDeclaration]:
        """The declarations, in the order of use."""
        out = []
        for name in self.used:
            constant = self.program.constant(name)
            kind = "int" if name in self._integers else "double"
            identifier = self.names.identifier(name, "constant")
            value: Piece | None = None
            if self._fixed(name):
                value = literal(constant.folded.exact)
            elif not self._is_literal(constant):
                value = self._printer().number(constant.folded.expr)
            out.append(ConstantDeclaration(kind, identifier, None if value is None else value.text))
        return out


def bounding(program: p.Program, partial: Partial) -> set[str]:
    """The constants that can move the largest number of sessions present where only the sessions' own tests bound it.

    What is tested, and the servers that decide who waits. A probability strictly between 0 and 1 does not count: any
    other value allows the same courses, or fewer.
    """
    names = {n for s in program.stages if isinstance(s.kind, p.Fifo) for n in _named(s.kind.servers.expr)}
    names |= {n for pool in program.pools for n in _named(pool.cap.expr)}
    for instruction in (*program.init, *program.code):
        match instruction:
            case p.Branch(probability=test) if not _inner(test, partial):
                names |= _named(test)
            case p.Set(expr=value):
                names |= _named(value) - _weights(value, partial)
            case p.Choose(count=count, keys=keys):
                names |= {name for expr in (count, *keys) for name in _named(expr)}
            case p.Hold(parts=parts):
                names |= {name for part in parts for name in _named(part.units)}
    return names


def _named(expr: e.Expr) -> set[str]:
    return {node.name for node in e.walk(expr) if isinstance(node, e.Const)}


def _inner(chance: e.Expr, partial: Partial) -> bool:
    """Whether it is a constant strictly between 0 and 1."""
    try:
        return 0 < partial.value(chance) < 1
    except UnknownValueError:
        return False


def _weights(value: e.Expr, partial: Partial) -> set[str]:
    """The constants that are only in the probabilities of a draw; none where the draw is not the whole value."""
    match value:
        case e.Draw(law="bernoulli", args=(chance,)) if _inner(chance, partial):
            return _named(chance)
        case e.Draw(law="choice", args=args) if all(_positive(w, partial) for w in args[1::2]):
            weights = {name for w in args[1::2] for name in _named(w)}
            return weights.difference(*(_named(v) for v in args[::2]))
        case _:
            return set()


def _positive(weight: e.Expr, partial: Partial) -> bool:
    try:
        return partial.value(weight) > 0
    except UnknownValueError:
        return False
