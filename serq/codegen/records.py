"""Annotations: what a parameter, a field or a variable is, and how records lie in memory."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from serq.codegen.signatures import ArrayType, FieldType, Item, ParameterType, RecordType, Type
from serq.codegen.units import RecordName, Unit, Units

Report = Callable[[Unit, ast.AST, str], None]
"""Takes note of a problem at a node of a unit."""

SCALARS: dict[str, Type] = {"i64": "i64", "u64": "u64", "f64": "f64", "bool": "bool"}
ARRAYS = {"I64Array": ArrayType("i64"), "U64Array": ArrayType("u64"), "F64Array": ArrayType("f64")}

Kept = Item | ArrayType | RecordType
"""What a field can be."""

_SCALAR_SIZE = 8
_ARRAY_SIZE = 16


@dataclass(slots=True)
class Annotations:
    """Reads annotations; a record is laid out when it is first met."""

    units: Units
    report: Report
    _laid_out: dict[str, RecordType | None] = field(default_factory=dict)

    def type_of(self, unit: Unit, node: ast.expr | None) -> ParameterType | None:
        """The type that an annotation names; None, reported, where it names none."""
        name = _name(node)
        if name in SCALARS:
            return SCALARS[name]
        if name in ARRAYS:
            return ARRAYS[name]
        meaning = self.units.meaning(unit, name) if name else None
        if isinstance(meaning, RecordName):
            return self.record(meaning)
        if node is not None:
            self.report(unit, node, f"{ast.unparse(node)} is no type; write i64, u64, f64, bool, an array or a record")
        return None

    def returned(self, unit: Unit, node: ast.FunctionDef) -> Type:
        """What a function gives; `none` also for what is no scalar, reported."""
        if node.returns is None:
            self.report(unit, node, f"{node.name} needs an annotation of what it returns (-> None for nothing)")
            return "none"
        if isinstance(node.returns, ast.Constant) and node.returns.value is None:
            return "none"
        found = self.type_of(unit, node.returns)
        if found is None or isinstance(found, str):
            return found or "none"
        self.report(unit, node.returns, "a function returns a scalar or None")
        return "none"

    def record(self, name: RecordName) -> RecordType | None:
        """The layout of a record; None where it has problems, which are reported once."""
        unit, node = name.unit, name.node
        key = f"{unit.name}.{node.name}"
        if key not in self._laid_out:
            self._laid_out[key] = None  # met again while it is laid out: it would contain itself
            self._laid_out[key] = self._lay_out(unit, node, key)
        return self._laid_out[key]

    def _lay_out(self, unit: Unit, node: ast.ClassDef, key: str) -> RecordType | None:
        fields: list[tuple[str, Kept]] = []
        good = not (node.bases or node.keywords or node.decorator_list)
        if not good:
            self.report(unit, node, "a record has no bases and no decorators")
        for statement in node.body:
            if _is_filler(statement):
                continue
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and not statement.value:
                kind = self._field(unit, statement.annotation)
                if kind is not None and kind not in ("bool", "wide", "none"):
                    fields.append((statement.target.id, kind))  # type: ignore[arg-type]
                    continue
            self.report(
                unit, statement, "a record has annotated fields of i64, u64, f64, arrays and other records only"
            )
            good = False
        return laid_out(key, node.name, fields, lambda rows: self._inside(node.name, rows)) if good else None

    def _inside(self, record: str, rows: str) -> int:
        """How many rows lie in the record: a constant of the main text that is called after both says so."""
        number = self.units.main.namespace.get(f"{record}_{rows}_rows".upper())
        return number if isinstance(number, int) and number > 0 else 0

    def _field(self, unit: Unit, node: ast.expr) -> ParameterType | None:
        """The type of a field: as of a parameter, or `Annotated[array, "rows"]`."""
        match node:
            case ast.Subscript(
                value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[inner, ast.Constant(value=str(rows))])
            ):
                kind = self.type_of(unit, inner)
                return replace(kind, rows=rows) if isinstance(kind, ArrayType) and rows.isidentifier() else None
        return self.type_of(unit, node)


def laid_out(
    name: str, label: str, fields: Sequence[tuple[str, Kept]], inside: Callable[[str], int] = lambda _: 0
) -> RecordType:
    """A record with these fields, one behind the other; arrays of the same rows where the first of them lies."""
    placed: list[FieldType] = []
    bundles = [kind.rows for _, kind in fields if isinstance(kind, ArrayType) and kind.rows]
    met: dict[str, tuple[int, int]] = {}
    size = 0
    for field_name, kind in fields:
        offset = size
        if isinstance(kind, ArrayType) and kind.rows:
            offset, column = met.get(kind.rows, (size, 0))
            met[kind.rows] = offset, column + 1
            kind = replace(kind, column=column, columns=bundles.count(kind.rows), inside=inside(kind.rows))
        placed.append(FieldType(field_name, offset, kind))
        size = max(size, offset + size_of(kind))
    return RecordType(name, label, tuple(placed), size)


def size_of(kind: ParameterType) -> int:
    """How many bytes a field of this type takes."""
    if isinstance(kind, RecordType):
        return kind.size
    if isinstance(kind, ArrayType) and kind.inside:
        return _SCALAR_SIZE * kind.columns * kind.inside
    return _ARRAY_SIZE if isinstance(kind, ArrayType) else _SCALAR_SIZE


def _name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def _is_filler(statement: ast.stmt) -> bool:
    """A docstring or `pass`."""
    if isinstance(statement, ast.Pass):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def mark_of(node: ast.FunctionDef) -> Literal["cold", "inline", ""] | None:
    """The mark above a function; None where it has other decorators."""
    names = [_name(d) for d in node.decorator_list]
    if not names:
        return ""
    return names[0] if len(names) == 1 and names[0] in ("cold", "inline") else None  # type: ignore[return-value]
