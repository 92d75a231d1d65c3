"""Records and arrays as compiled code sees them: structures in memory that keep alive what they point at."""

import ctypes
from array import array
from typing import Any

from serq.codegen.signatures import ArrayType, Item, RecordType

SCALARS: dict[str, Any] = {
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "f64": ctypes.c_double,
    "bool": ctypes.c_int64,
}
_FORMATS: dict[Item, str] = {"i64": "ql", "u64": "QL", "f64": "d"}
_SIZE = 8


class Pinned:
    """An array in its place: while this lives, the array can be neither freed nor resized."""

    __slots__ = ("_hold", "address", "array", "length")

    def __init__(self, items: Any, item: Item, name: str) -> None:
        """Raises `TypeError` for what is no writable array of these items."""
        try:
            view = memoryview(items)
        except TypeError:
            raise TypeError(f"{name} must be an array of {item}, not {type(items).__name__}") from None
        if view.itemsize != _SIZE or view.format.lstrip("<@=") not in _FORMATS[item] or view.ndim != 1:
            raise TypeError(f"{name} must be an array of {item}; this one has items of format {view.format}")
        if view.readonly or not view.contiguous:
            raise TypeError(f"{name} must be contiguous memory that can be written")
        self.array = items
        self.length = len(view)
        self._hold = ctypes.c_char.from_buffer(view.cast("B")) if self.length else None
        self.address = ctypes.addressof(self._hold) if self._hold is not None else 0

    def overlaps(self, other: "Pinned") -> bool:
        """Whether two arrays have memory in common."""
        ends = self.address + _SIZE * self.length, other.address + _SIZE * other.length
        return max(self.address, other.address) < min(ends)


class Record(ctypes.Structure):
    """The base of all records: fields are attributes, array fields take and give back Python's arrays."""

    layout: RecordType

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        for name, value in fields.items():
            if name not in {f.name for f in self.layout.fields}:
                raise AttributeError(f"{self.layout.label} has no field {name}")
            setattr(self, name, value)


def record_class(layout: RecordType, known: dict[str, type[Record]]) -> type[Record]:
    """The class of a record; `known` collects the classes of all records, inner ones too."""
    if layout.name in known:
        return known[layout.name]
    fields: list[tuple[str, Any]] = []
    members: dict[str, Any] = {"layout": layout}
    for f in layout.fields:
        if isinstance(f.type, RecordType):
            inner = record_class(f.type, known)
            fields.append((f"{f.name} memory", inner))
            members[f.name] = _inner(f.name, inner, f.offset)
        elif isinstance(f.type, ArrayType) and f.type.inside:
            if f.type.column == 0:
                fields.append((f"{f.type.rows} items", ctypes.c_int64 * (f.type.columns * f.type.inside)))
            members[f.name] = _inside(f.name, f.type, f.offset)
        elif isinstance(f.type, ArrayType) and f.type.rows:
            if f.type.column == 0:
                fields += [(f"{f.type.rows} address", ctypes.c_uint64), (f"{f.type.rows} length", ctypes.c_uint64)]
            members[f.name] = _column(f.name, f.type)
        elif isinstance(f.type, ArrayType):
            fields += [(f"{f.name} address", ctypes.c_uint64), (f"{f.name} length", ctypes.c_uint64)]
            members[f.name] = _array(f.name, f.type.item)
        else:
            fields.append((f.name, SCALARS[f.type]))
    known[layout.name] = made = type(layout.label, (Record,), {**members, "_fields_": fields})
    return made


def _inner(name: str, inner: type[Record], offset: int) -> property:
    """A record that lies inside: one object for it, made when it is first asked for."""

    def get(self: Record) -> Record:
        key = f"{name} record"
        if key not in self.__dict__:
            self.__dict__[key] = inner.from_buffer(self, offset)
        found: Record = self.__dict__[key]
        return found

    return property(get)


def _array(name: str, item: Item) -> property:
    """An array field: setting it pins the new array and lets the old one go."""
    key, address, length = f"{name} pinned", f"{name} address", f"{name} length"

    def get(self: Record) -> Any:
        pinned = self.__dict__.get(key)
        return None if pinned is None else pinned.array

    def put(self: Record, items: Any) -> None:
        pinned = Pinned(items, item, f"{self.layout.label}.{name}")
        for other, held in self.__dict__.items():
            if other != key and isinstance(held, Pinned) and held.overlaps(pinned):
                raise ValueError(f"{self.layout.label}.{name} and {other.split()[0]} would share their memory")
        self.__dict__[key] = pinned
        setattr(self, address, pinned.address)
        setattr(self, length, pinned.length)

    return property(get, put)


class Rows:
    """The memory of arrays that lie together: `length` rows of `columns` items."""

    __slots__ = ("_items", "columns", "length", "pinned")

    def __init__(self, length: int, columns: int) -> None:
        self.length = length
        self.columns = columns
        self._items = array("q", bytes(_SIZE * length * columns))
        self.pinned = Pinned(self._items, "i64", "rows")

    def column(self, place: int, item: Item) -> Any:
        """One of the arrays, in its place."""
        return _words(self._items, item)[place :: self.columns]

    def of_length(self, length: int) -> "Rows":
        """As many of the rows as fit into a new memory; what is new is 0."""
        new = Rows(length, self.columns)
        kept = min(length, self.length) * self.columns
        new._items[:kept] = self._items[:kept]
        return new


def _words(items: Any, item: Item) -> Any:
    """The memory of some array as items of a type."""
    return memoryview(items).cast("B").cast(_FORMATS[item][0])  # type: ignore[call-overload]


def _inside(name: str, kind: ArrayType, offset: int) -> property:
    """An array field that lies in the record: its items are copied when it is set."""
    end = offset + _SIZE * kind.columns * kind.inside

    def get(self: Record) -> Any:
        return _words(memoryview(self).cast("B")[offset:end], kind.item)[kind.column :: kind.columns]

    def put(self: Record, items: Any) -> None:
        given = Pinned(items, kind.item, f"{self.layout.label}.{name}")
        if given.length != kind.inside:
            raise ValueError(f"{self.layout.label}.{name} has {kind.inside} items, not {given.length}")
        get(self)[:] = _words(items, kind.item)

    return property(get, put)


def _column(name: str, kind: ArrayType) -> property:
    """An array field that lies among others: its items are copied when it is set, and all get its length."""
    key, address, length = f"{kind.rows} rows", f"{kind.rows} address", f"{kind.rows} length"

    def get(self: Record) -> Any:
        rows = self.__dict__.get(key)
        return None if rows is None else rows.column(kind.column, kind.item)

    def put(self: Record, items: Any) -> None:
        given = Pinned(items, kind.item, f"{self.layout.label}.{name}")
        rows = self.__dict__.get(key)
        if rows is None or rows.length != given.length:
            rows = Rows(given.length, kind.columns) if rows is None else rows.of_length(given.length)
            self.__dict__[key] = rows
            setattr(self, address, rows.pinned.address)
            setattr(self, length, rows.length)
        rows.column(kind.column, kind.item)[:] = _words(items, kind.item)

    return property(get, put)
