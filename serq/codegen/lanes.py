"""What `for i in lanes(n)` may hold: turns that do not touch what others write, each of the same few instructions
without a jump, so that a vector instruction does an operation of all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from serq.codegen.operators import MistypedError
from serq.codegen.tree import (
    Arithmetic,
    Array,
    BuiltinCall,
    Call,
    Choice,
    Comparison,
    Expr,
    Field,
    Function,
    ItemOf,
    Literally,
    Loaded,
    Local,
    Path,
    RecordPart,
    Return,
    SetItem,
    SetLocal,
    Statement,
    Table,
    Unary,
    UpdateItem,
)

COUNTS = (4, 8, 16)
"""How many turns there can be: those that fill a vector or a few. Two become code in line before LLVM makes vectors."""


@dataclass(slots=True)
class LanesChecker:
    """Checks a loop of lanes, statement by statement.

    `variable` is its variable, of which there are `count` values, `outside` are the names that have a value before it,
    `functions` those of the program.
    """

    variable: str
    count: int
    outside: frozenset[str]
    functions: Sequence[Function]
    _bases: dict[object, set[str | int]] = field(default_factory=dict)
    _stored: set[object] = field(default_factory=set)

    def take(self, statement: Statement | None) -> None:
        """The next statement. Raises `MistypedError` for what lanes cannot do."""
        match statement:
            case None:
                return
            case SetLocal(name, value):
                if name in self.outside or name == self.variable:
                    raise MistypedError(f"{name} has a value before the lanes, and each lane has variables of its own")
                self._read(value)
            case SetItem(array, position, value) | UpdateItem(array, position, value):
                self._read(value)
                self._access(array, position, stores=True)
            case _:
                raise MistypedError("lanes assign to variables and items, and do nothing else")

    def _read(self, e: Expr) -> None:
        for item in _items(e, self.functions):
            self._access(item.array, item.position)

    def _access(self, array: Array, position: Expr, stores: bool = False) -> None:
        if isinstance(array.at, Table):
            return  # nobody writes there: each lane takes what it likes
        base = self._base(position)
        if base is None or array.columns > 1:
            i = self.variable
            raise MistypedError(
                f"lanes take items side by side: {array.text}[{i}], or {array.text}[base + {i}] with a base from before"
            )
        # the same field of two records may be the same memory
        memory = (array.at.owner, array.at.field) if isinstance(array.at, Path) else array.at
        bases = self._bases.setdefault(memory, set())
        bases.add(base)
        if stores:
            self._stored.add(memory)
        if memory in self._stored and not self._apart(bases):
            raise MistypedError(f"a lane writes to {array.text} where another one may read or write")

    def _apart(self, bases: set[str | int]) -> bool:
        """Whether the items that lie side by side from one place on are not those from another one on."""
        places = sorted(base for base in bases if isinstance(base, int))
        known = len(bases) == 1 or len(places) == len(bases)
        return known and all(after - before >= self.count for before, after in pairwise(places))

    def _base(self, position: Expr) -> str | int | None:
        """Where the items of the lanes begin; None if they do not lie side by side from some place on."""
        match position:
            case Local(name=name) if name == self.variable:
                return 0
            case Arithmetic(op="+", left=Literally(value=base), right=Local(name=name)) if name == self.variable:
                return int(base)
            case Arithmetic(op="+", left=Local(name=base), right=Local(name=name)) if name == self.variable:
                return base if base in self.outside and base != name else None
        return None


def _items(e: Expr | Array | RecordPart, functions: Sequence[Function]) -> Iterator[ItemOf]:
    """The items in an expression. Raises `MistypedError` for what cannot be computed without a jump."""
    match e:
        case Literally() | Local() | Field() | Loaded():
            return
        case ItemOf():
            yield e
        case Unary(operand=operand):
            yield from _items(operand, functions)
        case Arithmetic() if e.op not in ("//", "%"):
            yield from _items(e.left, functions)
            yield from _items(e.right, functions)
        case Comparison(left=left, right=right):
            yield from _items(left, functions)
            yield from _items(right, functions)
        case Choice(test=test, yes=yes, no=no):
            for part in (test, yes, no):
                yield from _items(part, functions)
        case BuiltinCall(arguments=arguments):
            for argument in arguments:
                yield from _items(argument, functions)
        case Call(_, symbol, arguments):
            called = next(f for f in functions if f.signature.symbol == symbol)
            if called.mark != "inline" or not all(_computes(s, functions) for s in called.body):
                raise MistypedError(f"lanes call @inline functions that only compute with numbers, not {called.name}")
            for given in arguments:
                yield from _items(given, functions)
        case _:
            raise MistypedError("lanes have no `and`, `or`, `not`, // and %: all of them do the same, without a jump")


def _computes(statement: Statement, functions: Sequence[Function]) -> bool:
    """Whether a statement of a function that lanes call touches nothing but numbers."""
    match statement:
        case SetLocal(_, value) | Return(value) if value is not None:
            return not any(_items(value, functions))
    return False
