"""Frozen dataclasses that cost nothing until they are used.

`@dataclass` compiles six methods for a class, 0.4 ms, and of the hundreds of classes here (each diagnostic is one) a
process needs a few. A class that derives from `Frozen` or `FrozenByName` becomes a dataclass when its first instance is
made, and is then as any other.
"""

from dataclasses import dataclass, field
from threading import RLock
from typing import Any, dataclass_transform

_lock = RLock()


def _first(cls: type, *_: object, **__: object) -> Any:
    """Stands for `__new__` until there is an instance."""
    complete(cls)
    return object.__new__(cls)


def _later(cls: type, *_: object, **__: object) -> Any:
    """Stands for `__new__` from then on: CPython does not let a class have that of `object` back."""
    return object.__new__(cls)


_FIRST, _LATER = staticmethod(_first), staticmethod(_later)


def complete(cls: type) -> None:
    """Make dataclasses of a class that derives from `Frozen` or `FrozenByName`, and of its bases, if they are none."""
    with _lock:
        for base in reversed(cls.__mro__):
            if vars(base).get("__new__") is _FIRST:
                dataclass(frozen=True, kw_only=issubclass(base, FrozenByName))(base)
                type.__setattr__(base, "__new__", _LATER)


class _Late:
    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        type.__setattr__(cls, "__new__", _FIRST)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Frozen(_Late):
    """The base of frozen dataclasses."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class FrozenByName(_Late):
    """The base of frozen dataclasses whose fields are given by name only."""
