"""From the text to the typed tree: everything that is reached from the exported functions, callees first."""

import ast
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from serq.codegen.errors import Problem, RestrictedError
from serq.codegen.expressions import Expressions, Scope
from serq.codegen.operators import MistypedError, as_type, number
from serq.codegen.records import Annotations, mark_of
from serq.codegen.signatures import Parameter, ParameterType, RecordType, Signature, Type
from serq.codegen.statements import Statements
from serq.codegen.tree import Expr, Function, Module
from serq.codegen.units import ConstantName, FunctionName, RecordName, Unit, Units, place_of


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Where a checked function comes from: its text, and what each expression in it became."""

    unit: Unit
    node: ast.FunctionDef
    typed: dict[ast.AST, Expr]


def check(main: Unit, exports: Sequence[str] | None) -> Module:
    """The typed tree of a text; `exports` are the functions that may be called, by default its own public ones.

    Raises `RestrictedError` with everything that is wrong.
    """
    return check_sources(main, exports)[0]


def check_sources(main: Unit, exports: Sequence[str] | None) -> tuple[Module, list[Source]]:
    """The typed tree of a text, as `check` has it, and for each of its functions the source."""
    checker = _Checker(Units(main))
    names = exports if exports is not None else [n for n in main.functions if not n.startswith("_")]
    signatures = {}
    for name in names:
        meaning = checker.units.meaning(main, name)
        if not isinstance(meaning, FunctionName):
            checker.problems.append(Problem(main.file, 1, 1, f"{name} is to be exported and is no function"))
            continue
        signature = checker.function(meaning)
        if signature is not None:
            signatures[name] = signature
    records = checker.records()
    if checker.problems:
        raise RestrictedError(checker.problems)
    return Module(tuple(checker.functions), signatures, records), checker.sources


@dataclass(slots=True)
class _Checker:
    units: Units
    problems: list[Problem] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    annotations: Annotations = field(init=False)
    _signatures: dict[str, Signature | None] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.annotations = Annotations(self.units, self.report)

    def report(self, unit: Unit, node: ast.AST, message: str) -> None:
        place = place_of(node)  # type: ignore[arg-type]
        self.problems.append(Problem(unit.file, place.line, place.column, message))

    def records(self) -> dict[str, RecordType]:
        """The records that the text's own names stand for."""
        found = {}
        for name in self.units.main.namespace:
            meaning = self.units.meaning(self.units.main, name)
            record = self.annotations.record(meaning) if isinstance(meaning, RecordName) else None
            if record is not None:
                found[name] = record
        return found

    def function(self, name: FunctionName) -> Signature | None:
        """The signature of a function, whose body is checked when it is first met; None if it has problems there."""
        unit, node = name.unit, name.node
        symbol = f"{unit.name}.{node.name}"
        if symbol in self._open:
            self.report(unit, node, f"{node.name} calls itself, directly or through others")
            return None
        if symbol not in self._signatures:
            self._open.append(symbol)
            self._signatures[symbol] = self._check(unit, node, symbol)
            self._open.pop()
        return self._signatures[symbol]

    def _check(self, unit: Unit, node: ast.FunctionDef, symbol: str) -> Signature | None:
        parameters = self._parameters(unit, node)
        returns = self.annotations.returned(unit, node)
        mark = mark_of(node)
        if mark is None:
            self.report(unit, node, "a function may be marked @cold or @inline, and with nothing else")
        if parameters is None or mark is None:
            return None
        signature = Signature(symbol, parameters, returns)
        types = {p.name: p.type for p in parameters}
        scope = Scope(unit, types, _assigned_names(node) - set(types))
        expressions = Expressions(self.units, scope, self.function)
        statements = Statements(expressions, self.annotations, signature, self.functions)
        body = statements.block(node.body)
        if statements.ends and returns != "none":
            self.report(unit, node, f"{node.name} may end without a return")
        self.functions.append(Function(signature, node.name, unit.file, scope.locals, body, mark))
        self.sources.append(Source(unit, node, expressions.typed))
        return signature

    def _parameters(self, unit: Unit, node: ast.FunctionDef) -> tuple[Parameter, ...] | None:
        given = node.args
        if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg:
            self.report(unit, node, "parameters are plain: no *, no /, no keywords")
            return None
        found = []
        defaults = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
        for argument, default in zip(given.args, defaults, strict=True):
            if argument.annotation is None:
                self.report(unit, argument, f"{argument.arg} needs an annotation")
                continue
            kind = self.annotations.type_of(unit, argument.annotation)
            if kind is not None:
                found.append(Parameter(argument.arg, kind, self._default(unit, default, kind)))
        return tuple(found) if len(found) == len(given.args) else None

    def _default(self, unit: Unit, node: ast.expr | None, kind: ParameterType) -> int | float | bool | None:
        if node is None:
            return None
        value: object = None
        if isinstance(node, ast.Name):
            meaning = self.units.meaning(unit, node.id)
            value = meaning.value if isinstance(meaning, ConstantName) else None
        else:
            with suppress(ValueError):
                value = ast.literal_eval(node)
        if isinstance(value, bool | int | float) and isinstance(kind, str):
            return self._fitting(unit, node, value, kind)
        self.report(unit, node, "a default is a constant number, for a scalar parameter")
        return None

    def _fitting(self, unit: Unit, node: ast.expr, value: int | float | bool, kind: Type) -> int | float | bool | None:
        try:
            as_type(number(value), kind, "the default")
        except MistypedError as problem:
            self.report(unit, node, str(problem))
            return None
        return value


def _assigned_names(node: ast.FunctionDef) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
