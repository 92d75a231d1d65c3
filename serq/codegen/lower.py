"""From the typed tree to instructions: statements and control flow (values: `lower_values`)."""

from dataclasses import dataclass, field

from serq.codegen.code import (
    Branch,
    Code,
    Const,
    FunctionCode,
    Give,
    Jump,
    Label,
    Lanes,
    LoadItem,
    LoadSlot,
    StoreField,
    StoreItem,
    StoreSlot,
)
from serq.codegen.errors import Site
from serq.codegen.lower_values import Values
from serq.codegen.tree import (
    Evaluate,
    Expr,
    ForRange,
    Function,
    If,
    Leave,
    Literally,
    Logic,
    Module,
    Not,
    Return,
    SetField,
    SetItem,
    SetLocal,
    Statement,
    Table,
    UpdateItem,
    While,
)


def lower(module: Module, checked: bool) -> Code:
    """The instructions of a program; with `checked`, everything that can be a fault is looked at first."""
    sites: list[Site] = []
    tables: dict[str, Table] = {}
    exported = {s.symbol for s in module.exports.values()}
    functions = [
        _Lowering(Values(f, checked, sites, tables)).function(f.signature.symbol in exported)
        for f in module.functions
    ]  # fmt: skip
    return Code(tuple(functions), tuple(tables.values()), tuple(sites), checked)


@dataclass(slots=True)
class _Lowering:
    """Lowers one function. `_loops` are the labels to go on at, and to leave to."""

    values: Values
    _loops: list[tuple[int, int]] = field(default_factory=list)

    def function(self, exported: bool) -> FunctionCode:
        function: Function = self.values.function
        self.values.enter()
        self._block(function.body)
        if not self.values.dead:
            self.values.emit(Give(self.values.nothing()))
        return FunctionCode(
            function.signature, exported, function.mark, self.values.slots, tuple(self.values.code)
        )  # fmt: skip

    def _block(self, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            if not self.values.dead:
                self._statement(statement)

    def _statement(self, statement: Statement) -> None:
        values = self.values
        match statement:
            case SetLocal(name, value):
                values.emit(StoreSlot(name, values.value(value)))
            case SetField(path, value):
                values.emit(StoreField(path, values.value(value)))
            case SetItem(array, index, value, place):
                v = values.value(value)
                values.emit(StoreItem(array, values.index(array, index, place), v, values.lanes))
            case UpdateItem(array, index, value, place):
                i = values.index(array, index, place)
                values.loaded = values.temp(array.item)
                values.emit(LoadItem(values.loaded, array, i, values.lanes))
                values.emit(StoreItem(array, i, values.value(value), values.lanes))
            case Evaluate(call):
                values.call(call)
            case If():
                self._if(statement)
            case While():
                self._while(statement)
            case ForRange():
                self._for(statement)
            case Return(value):
                values.emit(Give(None if value is None else values.returned(value)))
            case Leave(how):
                values.emit(Jump(self._loops[-1][how == "break"]))

    def _branch(self, test: Expr, yes: int, no: int) -> None:
        """Go to one of two labels."""
        match test:
            case Not(operand):
                self._branch(operand, no, yes)
            case Logic(op, left, right):
                between = self.values.label()
                self._branch(left, *((between, no) if op == "and" else (yes, between)))
                self.values.emit(Label(between))
                self._branch(right, yes, no)
            case Literally(value=value):
                self.values.emit(Jump(yes if value else no))
            case _:
                self.values.emit(Branch(self.values.value(test), yes, no))

    def _if(self, statement: If) -> None:
        values = self.values
        yes, no, end = values.label(), values.label(), values.label()
        self._branch(statement.test, yes, no if statement.orelse else end)
        values.emit(Label(yes))
        self._block(statement.body)
        reached = not values.dead or not statement.orelse
        values.go(end)
        if statement.orelse:
            values.emit(Label(no))
            self._block(statement.orelse)
            reached = reached or not values.dead
            values.go(end)
        if reached:
            values.emit(Label(end))

    def _while(self, statement: While) -> None:
        values = self.values
        head, body, end = values.label(), values.label(), values.label()
        values.go(head)
        values.emit(Label(head))
        self._branch(statement.test, body, end)
        values.emit(Label(body))
        self._loop(statement.body, head, end)
        values.go(head)
        values.emit(Label(end))

    def _for(self, statement: ForRange) -> None:
        values = self.values
        head, body, step, end = values.label(), values.label(), values.label(), values.label()
        start, stop = values.value(statement.start), values.value(statement.stop)
        counter = values.slot("i64")
        values.emit(StoreSlot(counter, start))
        values.go(head)
        values.emit(Label(head))
        at = values.temp("i64")
        values.emit(LoadSlot(at, counter))
        values.emit(Branch(values.compute("bool", "<", at, stop), body, end))
        values.emit(Label(body))
        values.emit(StoreSlot(statement.name, at))
        # a checked build stops at the first fault, so its turns come one after the other
        values.lanes = head if statement.lanes and not values.checked else 0
        self._loop(statement.body, step, end)
        values.go(step)
        values.emit(Label(step))
        values.emit(StoreSlot(counter, values.compute("i64", "+", at, Const("i64", 1))))
        values.emit(Lanes(head, values.lanes, statement.lanes) if values.lanes else Jump(head))
        values.lanes = 0
        values.emit(Label(end))

    def _loop(self, body: tuple[Statement, ...], again: int, end: int) -> None:
        self._loops.append((again, end))
        self._block(body)
        self._loops.pop()
