"""A compiled program, and how machine code is called from Python."""

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from serq.codegen.errors import FaultError, Site
from serq.codegen.interface import Interface
from serq.codegen.memory import SCALARS, Pinned, Record, record_class
from serq.codegen.signatures import ArrayType, Item, Parameter, RecordType, Signature


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program that can be called.

    `functions` are the exported functions by name; those of machine code release the GIL. `records` make the records of
    the text.
    """

    backend: str
    checked: bool
    functions: Mapping[str, Callable[..., Any]]
    records: Mapping[str, Callable[..., Any]]

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the text.

        Raises `FaultError` at the first fault of a checked build, and `TypeError` or ctypes' `ArgumentError` for
        arguments of the wrong type.
        """
        return self.functions[name](*arguments)

    def record(self, name: str, **fields: Any) -> Any:
        """A record of the text: numbers are 0 and arrays unset, but for the fields given.

        A record pins its arrays: they cannot be resized while they are in it. Setting a field to another array lets the
        old one go.
        """
        return self.records[name](**fields)


def native(
    backend: str,
    checked: bool,
    interface: Interface,
    addresses: Mapping[str, int],
    owner: object,
    classes: dict[str, type[Record]] | None = None,
) -> Compiled:
    """The program whose functions are at these addresses, by symbol; `classes` are those its records have already."""
    classes = {} if classes is None else classes
    records = {name: record_class(layout, classes) for name, layout in interface.records.items()}
    functions = {
        name: _bound(s, _Code(addresses[s.symbol], owner), classes, interface.sites if checked else None)
        for name, s in interface.exports.items()
    }
    return Compiled(backend, checked, functions, records)


@dataclass(frozen=True, slots=True)
class _Code:
    """Machine code: where it begins, and what keeps it in memory."""

    address: int
    owner: object


def _bound(
    signature: Signature, code: _Code, classes: dict[str, type[Record]], sites: tuple[Site, ...] | None
) -> Callable[..., Any]:
    """A function at an address: as it is if ctypes can call it so, else with a few lines of Python around it."""
    kinds: list[Any] = [] if sites is None else [ctypes.c_void_p]
    for p in signature.parameters:
        kinds += _argument_types(p, classes, sites is not None)
    result = None if signature.returns == "none" else SCALARS[signature.returns]
    function: Any = ctypes.CFUNCTYPE(result, *kinds)(code.address)
    function.owner = code.owner  # a function that is kept keeps its code
    if sites is not None:
        function = _checked(function, signature, sites)
    defaults = tuple(p.default for p in signature.parameters)
    if any(d is not None for d in defaults):
        function = _with_defaults(function, defaults)
    return _as_bool(function) if signature.returns == "bool" else function


def _argument_types(p: Parameter, classes: dict[str, type[Record]], checked: bool) -> list[Any]:
    if isinstance(p.type, RecordType):
        return [_reference(record_class(p.type, classes))]
    if isinstance(p.type, ArrayType):
        return [_address(p.type.item, p.name)] + [ctypes.c_uint64] * checked
    return [SCALARS[p.type]]


def _reference(record: type[Record]) -> type:
    """The type of an argument that is a record of this class, which goes by reference."""

    def from_param(_cls: type, value: Any) -> Any:
        if type(value) is not record:
            raise TypeError(f"a {record.__name__} of this program is needed, not {type(value).__name__}")
        return ctypes.byref(value)

    return type(record.__name__, (), {"from_param": classmethod(from_param)})


class _Address(ctypes.c_void_p):
    """The address of an array, which stays pinned as long as this lives."""

    pinned: Pinned


def _address(item: Item, name: str) -> type:
    """The type of an argument that is an array of these items, which goes by its address."""

    def from_param(_cls: type, value: Any) -> Any:
        pinned = value if isinstance(value, Pinned) else Pinned(value, item, name)
        address = _Address(pinned.address)
        address.pinned = pinned
        return address

    return type("Address", (), {"from_param": classmethod(from_param)})


def _checked(function: Callable[..., Any], signature: Signature, sites: tuple[Site, ...]) -> Callable[..., Any]:
    """The function with a place for faults before its arguments, and the length of each array after the array."""
    arrays = [p.type.item if isinstance(p.type, ArrayType) else None for p in signature.parameters]
    names = [p.name for p in signature.parameters]

    def call(*arguments: Any) -> Any:
        fault = (ctypes.c_int64 * 3)()
        given: list[Any] = []
        for value, item, name in zip(arguments, arrays, names, strict=True):
            if item is None:
                given.append(value)
            else:
                pinned = Pinned(value, item, name)
                given += [pinned, pinned.length]
        result = function(ctypes.addressof(fault), *given)
        if fault[0]:
            raise FaultError(sites[fault[0] - 1], fault[1], fault[2])
        return result

    return call


def _with_defaults(function: Callable[..., Any], defaults: tuple[Any, ...]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        return function(*arguments, *defaults[len(arguments) :])

    return call


def _as_bool(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> bool:
        return bool(function(*arguments))

    return call
