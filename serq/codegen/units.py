"""The texts that a program is made of, and what their names stand for.

CPython runs a text first; after that the names of its module say what they are: a constant, a function, a record, or a
name of `serq.codegen.lang`. Texts of imported modules are read from their files.
"""

import ast
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import FunctionType
from typing import get_args

from serq.codegen import lang
from serq.codegen.errors import Problem, RestrictedError
from serq.codegen.tree import Builtin, Place

Constant = int | float | bool | tuple[int, ...] | tuple[float, ...]

_BUILTINS = {"int": int, "float": float, "min": min, "max": max, "range": range}


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """One text: its tree by name of function and class, and the module that CPython made of it."""

    name: str
    file: str
    namespace: Mapping[str, object]
    functions: Mapping[str, ast.FunctionDef]
    classes: Mapping[str, ast.ClassDef]


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A name of a function, and the unit that defines it."""

    unit: Unit
    node: ast.FunctionDef


@dataclass(frozen=True, slots=True)
class RecordName:
    """A name of a record, and the unit that defines it."""

    unit: Unit
    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class ConstantName:
    """A name of a constant; `unit` is the one that uses it."""

    value: Constant


@dataclass(frozen=True, slots=True)
class BuiltinName:
    """A function that the back ends have of their own."""

    name: Builtin


Meaning = FunctionName | RecordName | ConstantName | BuiltinName | None


@dataclass(slots=True)
class Units:
    """The units of one program; those of imported modules are read when a name of theirs is met."""

    main: Unit
    _read: dict[str, Unit] = field(default_factory=dict)

    def meaning(self, unit: Unit, name: str) -> Meaning:
        """What a name of a unit stands for; None for nothing that restricted Python knows."""
        if name not in unit.namespace:
            return BuiltinName(name) if name in _BUILTINS and name != "range" else None  # type: ignore[arg-type]
        value = unit.namespace[name]
        if isinstance(value, bool | int | float):
            return ConstantName(value)
        if isinstance(value, tuple):
            return ConstantName(value) if _is_table(value) else None
        for builtin in get_args(Builtin):
            if value is getattr(lang, builtin, None):
                return BuiltinName(builtin)
        return self._defined(value)

    def _defined(self, value: object) -> Meaning:
        if not isinstance(value, FunctionType | type):
            return None
        unit = self._unit(value.__module__)
        if unit is None:
            return None
        function, record = unit.functions.get(value.__name__), unit.classes.get(value.__name__)
        if isinstance(value, FunctionType):
            return FunctionName(unit, function) if function is not None else None
        return RecordName(unit, record) if record is not None else None

    def _unit(self, module: str) -> Unit | None:
        if module == self.main.name:
            return self.main
        if not module.startswith("serq.") or module == lang.__name__:
            return None
        if module not in self._read:
            self._read[module] = _unit_of_module(module)
        return self._read[module]


def _is_table(value: tuple[object, ...]) -> bool:
    kinds = {type(v) for v in value}
    return kinds in ({int}, {float})


def unit_of_text(text: str) -> Unit:
    """The unit of a text that is no file, once CPython has run it.

    Raises `RestrictedError` where the text is no Python, and whatever the text raises when it runs.
    """
    name = "serq_text_" + blake2b(text.encode(), digest_size=6).hexdigest()
    file = f"<{name}>"
    try:
        tree = ast.parse(text, file)
    except SyntaxError as error:
        raise RestrictedError([Problem(file, error.lineno or 1, error.offset or 1, error.msg)]) from None
    namespace: dict[str, object] = {"__name__": name}
    exec(compile(tree, file, "exec"), namespace)
    return _unit(name, file, tree, namespace)


def _unit_of_module(name: str) -> Unit:
    module = importlib.import_module(name)
    file = module.__file__ or name
    tree = ast.parse(Path(file).read_text(encoding="utf-8"), file)
    return _unit(name, Path(file).name, tree, vars(module))


def _unit(name: str, file: str, tree: ast.Module, namespace: Mapping[str, object]) -> Unit:
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    return Unit(name, file, namespace, functions, classes)


def place_of(node: ast.expr | ast.stmt | ast.arg) -> Place:
    """Where a node begins."""
    return Place(node.lineno, node.col_offset + 1)
