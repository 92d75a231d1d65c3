"""Compilation of restricted Python: one typed text that LLVM, CPython and C run to the same bits.

The language is defined in `docs/reference/restricted-python.md`. In short: annotated functions over `i64`, `u64`,
`f64` and `bool`, records (classes with annotated fields) and arrays that the caller owns; the arithmetic of CPython,
with `u64` wrapping only where the text masks. `compile_module(text)` checks the text and gives a `Compiled` with
`call(name, *args)` and `record(name, **fields)`; machine code is cached on disk.

The names are imported when they are first used: texts that import `serq.codegen.lang` pay for no compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serq.codegen.compiled import Compiled
    from serq.codegen.errors import BackendError, FaultError, RestrictedError, Site
    from serq.codegen.program import compile_module

__all__ = ["BackendError", "Compiled", "FaultError", "RestrictedError", "Site", "compile_module"]

_HOMES = {"Compiled": "compiled", "compile_module": "program"}


def __getattr__(name: str) -> object:
    """A public name, from the module that defines it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"serq.codegen.{_HOMES.get(name, 'errors')}"), name)
