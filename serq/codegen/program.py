"""From a text to a program that can be called, through the cache where there is something in it."""

from collections.abc import Sequence
from typing import Literal

from serq.base.errors import UsageError
from serq.codegen import jit
from serq.codegen.build import Build
from serq.codegen.compiled import Compiled

Backend = Literal["auto", "llvm", "cpython", "c"]


def compile_module(
    text: str,
    backend: Backend = "auto",
    *,
    exports: Sequence[str] | None = None,
    checked: bool = False,
    opt: int = 2,
    cached: bool = True,
) -> Compiled:
    """Compile a text of restricted Python.

    `auto` is LLVM where llvmlite can be imported, and CPython elsewhere. `exports` are the functions that can be
    called, by default the text's own public ones: fewer compile faster. `opt` is LLVM's level, 0 to 3. With `cached`,
    object files are read from and kept in the cache directory (`SERQ_CACHE_DIR`, or the platform's).

    Raises `RestrictedError` for a text outside the language and `BackendError` where the back end does not work here.
    """
    names = None if exports is None else tuple(exports)
    if backend == "auto":
        backend = "llvm" if jit.available() else "cpython"
    if backend == "llvm":
        build = Build(text, names, checked, cached)
        return build.kept(opt) or build.made(opt)
    if backend == "cpython":
        from serq.codegen.plain import by_cpython

        return by_cpython(text, names, checked)
    if backend == "c":
        from serq.codegen.c_build import by_c

        return by_c(text, names, checked)
    raise UsageError(f"there is no back end {backend!r}: auto, llvm, cpython or c")
