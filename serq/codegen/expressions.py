"""Checking of expressions: from Python's tree to the typed one."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from serq.codegen.operators import (
    OPERATORS,
    RELATIONS,
    MistypedError,
    arithmetic,
    as_double,
    as_type,
    comparison,
    fit,
    is_open,
    number,
    settle,
    unary,
)
from serq.codegen.signatures import ArrayType, FieldType, Item, Parameter, ParameterType, RecordType, Signature, Type
from serq.codegen.tree import (
    Array,
    Builtin,
    BuiltinCall,
    Call,
    Choice,
    Expr,
    Field,
    ItemOf,
    Literally,
    Local,
    Logic,
    Not,
    Path,
    RecordPart,
    Table,
)
from serq.codegen.units import BuiltinName, ConstantName, FunctionName, Unit, Units, place_of


class WrongError(Exception):
    """A problem at a node of the text."""

    def __init__(self, node: ast.AST, message: str) -> None:
        self.node = node
        self.message = message
        super().__init__(message)


@dataclass(slots=True)
class Scope:
    """What names stand for inside one function.

    `own` are the names that the function assigns anywhere: to CPython they are its variables everywhere. `locals` are
    those whose type is known by now, `assigned` those that surely have a value here.
    """

    unit: Unit
    parameters: dict[str, ParameterType]
    own: frozenset[str]
    locals: dict[str, Type] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Expressions:
    """Checks the expressions of one function. Every method raises `WrongError` at the first problem that it meets.

    `typed` keeps what became of each node.
    """

    units: Units
    scope: Scope
    signature_of: Callable[[FunctionName], Signature | None]
    typed: dict[ast.AST, Expr] = field(default_factory=dict)

    def value(self, node: ast.expr, wanted: Type, what: str) -> Expr:
        """An expression of a wanted type."""
        e = self.expression(node)
        try:
            return as_type(e, wanted, what)
        except MistypedError as problem:
            raise WrongError(node, str(problem)) from None

    def scalar(self, node: ast.expr) -> Expr:
        """An expression that can be kept in a variable: it has a type, and it is not `wide`."""
        e = self.expression(node)
        try:
            e = settle(e)
            return as_type(e, e.type if e.type in ("i64", "u64", "f64", "bool") else "u64", "the value")
        except MistypedError as problem:
            raise WrongError(node, str(problem)) from None

    def expression(self, node: ast.expr) -> Expr:
        """Any expression; whole literals may still be without a type."""
        try:
            found = self.typed[node] = self._expression(node)
        except MistypedError as problem:
            raise WrongError(node, str(problem)) from None
        return found

    def _expression(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant(value=bool() | int() | float() as constant):
                return number(constant)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._field(node)
            case ast.Subscript():
                return self.item(node)
            case ast.BinOp():
                return self._binary(node, self.expression(node.left), node.op, node.right)
            case ast.UnaryOp(op=ast.Not()):
                return Not(self.value(node.operand, "bool", "the operand of not"))
            case ast.UnaryOp():
                op = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
                return unary(op, self.expression(node.operand), place_of(node))
            case ast.BoolOp():
                return self._logic(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                return self._choice(node)
            case ast.Call():
                return self._call(node)
        raise WrongError(node, f"{ast.unparse(node)} is no expression of restricted Python")

    # -- names and memory --------------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Expr:
        scope = self.scope
        if node.id in scope.parameters:
            kind = scope.parameters[node.id]
            if not isinstance(kind, str):
                raise WrongError(node, f"{node.id} is no scalar: it is indexed, has fields or is passed on")
            return Local(kind, node.id)
        if node.id in scope.own:
            if node.id not in scope.assigned:
                raise WrongError(node, f"{node.id} may have no value here")
            return Local(scope.locals[node.id], node.id)
        meaning = self.units.meaning(scope.unit, node.id)
        if isinstance(meaning, ConstantName) and not isinstance(meaning.value, tuple):
            return number(meaning.value)
        raise WrongError(node, f"{node.id} is no variable, parameter or constant number")

    def _field(self, node: ast.Attribute) -> Expr:
        path, kind = self.path(node)
        if not isinstance(kind, str):
            raise WrongError(node, f"{path.text} is no scalar: it is indexed, has fields or is passed on")
        return Field(kind, path)

    def path(self, node: ast.Attribute) -> tuple[Path, Item | ArrayType | RecordType]:
        """A field reached from a record, and its type."""
        text = ast.unparse(node)
        record, parameter, offset = self._record(node.value)
        found: FieldType | None = next((f for f in record.fields if f.name == node.attr), None)
        if found is None:
            raise WrongError(node, f"{record.label} has no field {node.attr}")
        return Path(parameter, offset + found.offset, record.name, found.name, text), found.type

    def _record(self, node: ast.expr) -> tuple[RecordType, str, int]:
        """The record that an expression names, the parameter it is reached from, and its offset there."""
        if isinstance(node, ast.Name):
            kind = self.scope.parameters.get(node.id)
            if isinstance(kind, RecordType):
                return kind, node.id, 0
        if isinstance(node, ast.Attribute):
            path, part = self.path(node)
            if isinstance(part, RecordType):
                return part, path.parameter, path.offset
        raise WrongError(node, f"{ast.unparse(node)} is no record")

    def array(self, node: ast.expr, tables: bool) -> Array:
        """The array that an expression names; tables only where they may stand."""
        text = ast.unparse(node)
        if isinstance(node, ast.Name):
            kind = self.scope.parameters.get(node.id)
            if isinstance(kind, ArrayType):
                return Array(kind.item, node.id, text)
            if kind is None and node.id not in self.scope.own and tables:
                return self._table(node)
        if isinstance(node, ast.Attribute):
            path, part = self.path(node)
            if isinstance(part, ArrayType):
                return Array(part.item, path, text, part.column, part.columns, part.inside)
        raise WrongError(node, f"{text} is no array")

    def _table(self, node: ast.Name) -> Array:
        meaning = self.units.meaning(self.scope.unit, node.id)
        if not isinstance(meaning, ConstantName) or not isinstance(meaning.value, tuple):
            raise WrongError(node, f"{node.id} is no array")
        values = meaning.value
        item: Item = "f64"
        if isinstance(values[0], int):
            item = "i64" if all(-(2**63) <= v < 2**63 for v in values) else "u64"
            if item == "u64" and not all(0 <= v < 2**64 for v in values):
                raise WrongError(node, f"{node.id} has numbers that do not fit into one type")
        return Array(item, Table(f"{self.scope.unit.name}.{node.id}", item, values), node.id)

    def index(self, node: ast.expr) -> Expr:
        """An index: an `i64`, and no literal below 0."""
        e = self.value(node, "i64", "an index")
        if isinstance(e, Literally) and e.value < 0:
            raise WrongError(node, "an index counts from 0 upwards")
        return e

    def item(self, node: ast.Subscript) -> ItemOf:
        """`a[i]`."""
        array = self.array(node.value, tables=True)
        return ItemOf(array.item, array, self.index(node.slice), place_of(node))

    # -- operators ---------------------------------------------------------------------------------------------------

    def update(self, node: ast.AugAssign, old: Expr) -> Expr:
        """The new value of `x op= e`, where x had an old one."""
        found = self.typed[node] = self._binary(node, old, node.op, node.value)
        return found

    def _binary(self, node: ast.expr | ast.stmt, left: Expr, op: ast.operator, right: ast.expr) -> Expr:
        name = OPERATORS.get(type(op))
        if name is None:
            raise WrongError(node, "restricted Python has no such operator")
        return arithmetic(name, left, self.expression(right), place_of(node))

    def _logic(self, node: ast.BoolOp) -> Expr:
        op = "and" if isinstance(node.op, ast.And) else "or"
        parts = [self.value(v, "bool", f"an operand of {op}") for v in node.values]
        result = parts[-1]
        for part in reversed(parts[:-1]):
            result = Logic("and" if op == "and" else "or", part, result)
        return result

    def _comparison(self, node: ast.Compare) -> Expr:
        operands = [node.left, *node.comparators]
        for inner in operands[1:-1]:
            if any(isinstance(n, ast.Call) for n in ast.walk(inner)):
                raise WrongError(inner, "a call inside a chained comparison: keep it in a variable first")
        values = [self.expression(o) for o in operands]
        result: Expr | None = None
        for i in reversed(range(len(node.ops))):
            op = RELATIONS.get(type(node.ops[i]))
            if op is None:
                raise WrongError(node, "restricted Python has no such comparison")
            pair = comparison(op, values[i], values[i + 1])
            result = pair if result is None else Logic("and", pair, result)
        assert result is not None
        return result

    def _choice(self, node: ast.IfExp) -> Expr:
        test = self.value(node.test, "bool", "the condition")
        yes, no = self._alike([self.expression(node.body), self.expression(node.orelse)], "both values of a choice")
        return Choice(yes.type, test, yes, no)

    def _alike(self, values: list[Expr], what: str) -> list[Expr]:
        """The values with one type, which whole literals take over from the others; not from doubles."""
        typed = [v for v in values if not is_open(v)]
        wanted: Type = typed[0].type if typed else settle(values[0]).type
        return [as_type(v, wanted, what) for v in values]

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Expr:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise WrongError(node, "a call is name(argument, ...), without keywords")
        hidden = node.func.id in self.scope.own or node.func.id in self.scope.parameters
        meaning = None if hidden else self.units.meaning(self.scope.unit, node.func.id)
        if isinstance(meaning, BuiltinName):
            return self._builtin(node, meaning.name)
        if not isinstance(meaning, FunctionName):
            raise WrongError(node, f"{node.func.id} is no function of restricted Python")
        signature = self.signature_of(meaning)
        if signature is None:
            raise WrongError(node, f"{node.func.id} has problems of its own")
        return self._function(node, node.func.id, signature)

    def _function(self, node: ast.Call, name: str, signature: Signature) -> Call:
        wanted = signature.parameters
        least = sum(p.default is None for p in wanted)
        if not least <= len(node.args) <= len(wanted):
            raise WrongError(node, f"{name} takes {least} to {len(wanted)} arguments, not {len(node.args)}")
        given = [self._argument(a, p) for a, p in zip(node.args, wanted, strict=False)]
        for p in wanted[len(given) :]:
            assert p.default is not None
            assert isinstance(p.type, str)
            given.append(fit(number(p.default), p.type))
        return Call(signature.returns, signature.symbol, tuple(given))

    def _argument(self, node: ast.expr, parameter: Parameter) -> Expr | Array | RecordPart:
        wanted = parameter.type
        if isinstance(wanted, ArrayType):
            array = self.array(node, tables=False)
            if array.columns > 1 or array.inside:
                raise WrongError(node, f"{array.text} lies among others and cannot be passed on")
            if array.item != wanted.item:
                raise WrongError(
                    node, f"{array.text} holds {array.item}, and {parameter.name} is an array of {wanted.item}"
                )
            return array
        if isinstance(wanted, RecordType):
            record, name, offset = self._record(node)
            if record != wanted:
                raise WrongError(
                    node, f"{ast.unparse(node)} is a {record.label}, and {parameter.name} is a {wanted.label}"
                )
            return RecordPart(name, offset)
        return self.value(node, wanted, f"argument {parameter.name}")

    def _builtin(self, node: ast.Call, name: Builtin) -> Expr:
        place = place_of(node)
        count = 2 if name in ("min", "max") else 1
        if len(node.args) != count:
            raise WrongError(node, f"{name} takes {count} argument{'s' if count > 1 else ''}")
        values = [self.expression(a) for a in node.args]
        if name in ("min", "max"):
            values = self._alike(values, f"an operand of {name}")
            if values[0].type not in ("i64", "u64", "f64"):
                raise WrongError(node, f"{name} is for numbers")
            return BuiltinCall(values[0].type, name, tuple(values), place)
        value = settle(values[0])
        if name == "float":
            return as_double(value, place)
        if name == "int":
            if value.type not in ("i64", "u64", "f64", "bool"):
                raise WrongError(node, "int takes a number or a bool; mask a u64 that may have wrapped")
            return value if value.type == "i64" else BuiltinCall("i64", "int", (value,), place)
        value = as_type(values[0], "u64" if name == "float_of" else "f64", f"the argument of {name}")
        return BuiltinCall("u64" if name == "bits_of" else "f64", name, (value,), place)
