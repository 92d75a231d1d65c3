"""Which constants of a program are declared in an export, as what, and which of them stay open."""

from collections.abc import Mapping
from fractions import Fraction

from serq.exporters.names import NameMap
from serq.exporters.partial import Partial
from serq.exporters.text import NoTextError, Piece, Printer, literal
from serq.ir import expr as e
from serq.ir import program as p
from serq.ir.expr import Number


class Constants:
    """Hands out identifiers of constants and declares those that were used.

    A `let` whose value is a number stays open; one that is an expression of other lets keeps its expression. A constant
    that shapes the structure (`Partial.shaping`) is fixed at its value.
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
                self._mark_integer(stage.kind.servers)

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

    def whole(self, folded: p.Folded) -> Piece:
        """The text of a population or limit; its constants are integers."""
        if not self._mark_integer(folded):
            for inner in e.walk(folded.expr):
                if isinstance(inner, e.Const):
                    self.partial.shaping.add(inner.name)
            return literal(Fraction(folded.exact))
        return self._printer().number(folded.expr)

    def _mark_integer(self, folded: p.Folded) -> bool:
        """Note that the constants of the expression are whole numbers; False when it cannot stay an expression."""
        nodes = e.walk(folded.expr)
        if any(isinstance(n, e.Binary) and n.op in ("/", "%") for n in nodes):
            return False
        names = {n.name for n in nodes if isinstance(n, e.Const)}
        if any(Fraction(self.program.constant(n).folded.exact).denominator != 1 for n in names):
            return False
        for name in names:
            self._integers.add(name)
            if not self._is_literal(self.program.constant(name)):
                self._mark_integer(self.program.constant(name).folded)
        return True

    def _printer(self) -> Printer:
        def state(node: e.StageState | e.Context) -> Piece:
            raise NoTextError("a constant")

        return Printer(self.use, state)

    @staticmethod
    def _is_literal(constant: p.Constant) -> bool:
        return isinstance(constant.folded.expr, e.Num) or constant.overridden

    def _fixed(self, name: str) -> bool:
        constant = self.program.constant(name)
        return name in self.partial.shaping or isinstance(constant.folded.exact, float) or self._not_asked(name)

    def _not_asked(self, name: str) -> bool:
        return self.keep_open is not None and name not in self.keep_open

    def closed_names(self) -> list[str]:
        """The declared constants that had to be fixed."""
        return [n for n in self.used if n in self.partial.shaping]

    def open_values(self) -> Mapping[str, Number]:
        """The identifiers that are left open, with the program's values."""
        out = {}
        for name in self.used:
            constant = self.program.constant(name)
            if self._is_literal(constant) and not self._fixed(name):
                out[self.names.identifier(name, "constant")] = constant.folded.exact
        return out

    def declarations(self) -> list[str]:
        """The declarations, in the order of use."""
        out = []
        for name in self.used:
            constant = self.program.constant(name)
            kind = "int" if name in self._integers else "double"
            identifier = self.names.identifier(name, "constant")
            if self._fixed(name):
                out.append(f"const {kind} {identifier} = {literal(constant.folded.exact)};")
            elif self._is_literal(constant):
                out.append(f"const {kind} {identifier};")
            else:
                out.append(f"const {kind} {identifier} = {self._printer().number(constant.folded.expr)};")
        return out
