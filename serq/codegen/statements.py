"""Checking of statements and whole functions: types of variables, values on every way, returns."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from serq.codegen import lang
from serq.codegen.expressions import Expressions, Scope, WrongError
from serq.codegen.lanes import COUNTS, LanesChecker
from serq.codegen.operators import MistypedError, as_type, settle
from serq.codegen.records import Annotations
from serq.codegen.signatures import Signature, Type
from serq.codegen.tree import (
    Call,
    Evaluate,
    Expr,
    Field,
    ForRange,
    Function,
    If,
    Leave,
    Literally,
    Loaded,
    Local,
    Return,
    SetField,
    SetItem,
    SetLocal,
    Statement,
    UpdateItem,
    While,
)
from serq.codegen.units import place_of


@dataclass(slots=True)
class _Loop:
    """What is known where a loop is left by `break`: the variables assigned there, by each of them. `lanes` asks
    whether its statements can be done in lanes.
    """

    exits: list[set[str]] = field(default_factory=list)
    lanes: LanesChecker | None = None


@dataclass(slots=True)
class Statements:
    """Checks the statements of one function; one problem for each statement is reported. `functions` are those that
    it calls, and others.
    """

    expressions: Expressions
    annotations: Annotations
    signature: Signature
    functions: Sequence[Function]
    _loops: list[_Loop] = field(default_factory=list)
    _dead: bool = False

    @property
    def ends(self) -> bool:
        """Whether the end of what was checked last can be reached."""
        return not self._dead

    @property
    def _scope(self) -> Scope:
        return self.expressions.scope

    def block(self, nodes: list[ast.stmt]) -> tuple[Statement, ...]:
        """Statements in order. What follows a `return` is checked and dropped."""
        found: list[Statement] = []
        for node in nodes:
            dropped = self._dead
            try:
                statement = self._statement(node)
                if self._loops and self._loops[-1].lanes is not None:
                    self._loops[-1].lanes.take(statement)
            except MistypedError as problem:
                self.annotations.report(self._scope.unit, node, str(problem))
                continue
            except WrongError as problem:
                self.annotations.report(self._scope.unit, problem.node, problem.message)
                continue
            if statement is not None and not dropped:
                found.append(statement)
        return tuple(found)

    def _statement(self, node: ast.stmt) -> Statement | None:
        match node:
            case ast.Assign(targets=[target]):
                return self._assign(target, node.value)
            case ast.AnnAssign():
                return self._declare(node)
            case ast.AugAssign():
                return self._update(node)
            case ast.If():
                return self._if(node)
            case ast.While():
                return self._while(node)
            case ast.For():
                return self._for(node)
            case ast.Return():
                return self._return(node)
            case ast.Break():
                self._loops[-1].exits.append(set(self._scope.assigned))
                self._dead = True
                return Leave("break")
            case ast.Continue():
                self._dead = True
                return Leave("continue")
            case ast.Pass() | ast.Assert() | ast.Expr(value=ast.Constant()):
                return None
            case ast.Expr():
                return self._effect(node)
        raise WrongError(node, "this is no statement of restricted Python")

    # -- assignments -------------------------------------------------------------------------------------------------

    def _assign(self, target: ast.expr, value: ast.expr) -> Statement:
        match target:
            case ast.Name():
                known = self._type_of_local(target)
                if known is None:
                    e = self.expressions.scalar(value)
                else:
                    e = self.expressions.value(value, known, f"what {target.id} gets")
                self._keep(target, e.type)
                return SetLocal(target.id, e)
            case ast.Attribute():
                path, kind = self.expressions.path(target)
                if not isinstance(kind, str):
                    raise WrongError(target, f"{path.text} is set from outside only")
                return SetField(path, self.expressions.value(value, kind, f"what {path.text} gets"))
            case ast.Subscript():
                array = self.expressions.array(target.value, tables=False)
                e = self.expressions.value(value, array.item, f"what {array.text} holds")
                return SetItem(array, self.expressions.index(target.slice), e, place_of(target))
        raise WrongError(target, "assign to one variable, field or item")

    def _type_of_local(self, target: ast.Name) -> Type | None:
        scope = self._scope
        kind = scope.parameters.get(target.id)
        if kind is not None and not isinstance(kind, str):
            raise WrongError(target, f"{target.id} is an array or a record and stays what it is")
        return kind or scope.locals.get(target.id)

    def _keep(self, target: ast.Name, kind: Type) -> None:
        if target.id not in self._scope.parameters:
            self._scope.locals.setdefault(target.id, kind)
            self._scope.assigned.add(target.id)

    def _declare(self, node: ast.AnnAssign) -> Statement | None:
        scope = self._scope
        if not isinstance(node.target, ast.Name):
            raise WrongError(node, "only variables are declared")
        kind = self.annotations.type_of(scope.unit, node.annotation)
        if kind is None:
            return None
        if not isinstance(kind, str):
            raise WrongError(node.annotation, "a variable is a scalar")
        if self._type_of_local(node.target) not in (None, kind):
            raise WrongError(node, f"{node.target.id} has another type already")
        if node.target.id not in scope.parameters:
            scope.locals[node.target.id] = kind
        return self._assign(node.target, node.value) if node.value is not None else None

    def _update(self, node: ast.AugAssign) -> Statement:
        match node.target:
            case ast.Name():
                old = self.expressions.expression(node.target)
                if not isinstance(old, Local):
                    raise WrongError(node.target, f"{node.target.id} is no variable")
                new = self._changed(node, old, node.target.id)
                return SetLocal(node.target.id, new)
            case ast.Attribute():
                path, kind = self.expressions.path(node.target)
                if not isinstance(kind, str):
                    raise WrongError(node.target, f"{path.text} is set from outside only")
                return SetField(path, self._changed(node, Field(kind, path), path.text))
        array = self.expressions.array(node.target.value, tables=False)
        index = self.expressions.index(node.target.slice)
        value = self._changed(node, Loaded(array.item), ast.unparse(node.target))
        return UpdateItem(array, index, value, place_of(node.target))

    def _changed(self, node: ast.AugAssign, old: Local | Field | Loaded, name: str) -> Expr:
        new = self.expressions.update(node, old)
        return as_type(settle(new), old.type, f"what {name} gets")

    # -- ways --------------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> Statement:
        scope = self._scope
        test = self.expressions.value(node.test, "bool", "the condition")
        dead, before = self._dead, set(scope.assigned)
        body = self.block(node.body)
        dead_body, after_body = self._dead, scope.assigned
        self._dead, scope.assigned = dead, set(before)
        orelse = self.block(node.orelse)
        scope.assigned = _meeting(after_body, dead_body, scope.assigned, self._dead)
        self._dead = dead_body and self._dead
        return If(test, body, orelse)

    def _while(self, node: ast.While) -> Statement:
        self._no_else(node)
        scope = self._scope
        test = self.expressions.value(node.test, "bool", "the condition")
        forever = isinstance(node.test, ast.Constant) and node.test.value is True
        dead, before = self._dead, set(scope.assigned)
        body, loop = self._body(node.body)
        exits = loop.exits if forever else [*loop.exits, before]
        scope.assigned = set.intersection(*exits) if exits else before
        self._dead = dead or not exits
        return While(test, body)

    def _for(self, node: ast.For) -> Statement:
        self._no_else(node)
        scope = self._scope
        count = self._count_of_lanes(node.iter)
        start, stop = self._range(node.iter) if not count else (Literally("i64", 0), Literally("i64", count))
        if not isinstance(node.target, ast.Name):
            raise WrongError(node.target, "a loop has one variable")
        if self._type_of_local(node.target) not in (None, "i64"):
            raise WrongError(node.target, f"{node.target.id} has another type already")
        dead, before = self._dead, set(scope.assigned)
        self._keep(node.target, "i64")
        outside = frozenset(before | set(scope.parameters))
        lanes = LanesChecker(node.target.id, count, outside, self.functions) if count else None
        body, _ = self._body(node.body, lanes)
        scope.assigned = before - {node.target.id}
        self._dead = dead
        return ForRange(node.target.id, start, stop, body, count)

    def _count_of_lanes(self, node: ast.expr) -> int:
        """How many turns there are of a loop over `lanes(n)`; 0 for another loop."""
        match node:
            case ast.Call(func=ast.Name(id=name)) if self._scope.unit.namespace.get(name) is lang.lanes:
                if name in self._scope.own or name in self._scope.parameters:
                    return 0
                count = self.expressions.expression(node.args[0]) if len(node.args) == 1 else None
                if not isinstance(count, Literally) or count.type == "f64" or count.value not in COUNTS:
                    raise WrongError(node, f"lanes are {', '.join(map(str, COUNTS[:-1]))} or {COUNTS[-1]}")
                return int(count.value)
        return 0

    def _range(self, node: ast.expr) -> tuple[Expr, Expr]:
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if name != "range" or not isinstance(node, ast.Call) or len(node.args) not in (1, 2) or node.keywords:
            raise WrongError(node, "a for loop runs over range(n) or range(a, b)")
        bounds = [self.expressions.value(a, "i64", "a bound of the range") for a in node.args]
        return (Literally("i64", 0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])

    def _body(self, nodes: list[ast.stmt], lanes: LanesChecker | None = None) -> tuple[tuple[Statement, ...], _Loop]:
        loop = _Loop(lanes=lanes)
        self._loops.append(loop)
        self._dead = False
        body = self.block(nodes)
        self._loops.pop()
        return body, loop

    def _no_else(self, node: ast.While | ast.For) -> None:
        if node.orelse:
            raise WrongError(node.orelse[0], "a loop has no else")

    def _return(self, node: ast.Return) -> Statement:
        self._dead = True
        wanted = self.signature.returns
        if node.value is None or wanted == "none":
            if node.value is not None or wanted != "none":
                raise WrongError(
                    node, "a value is returned where the function is annotated to have one, and only there"
                )
            return Return(None)
        return Return(self.expressions.value(node.value, wanted, "what is returned"))

    def _effect(self, node: ast.Expr) -> Statement:
        call = self.expressions.expression(node.value)
        if not isinstance(call, Call):
            raise WrongError(node, "an expression alone has no effect")
        return Evaluate(call)


def _meeting(one: set[str], one_dead: bool, other: set[str], other_dead: bool) -> set[str]:
    """The variables that have values where two ways meet; a way that does not get there says nothing."""
    if one_dead:
        return other
    return one if other_dead else one & other
