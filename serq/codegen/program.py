"""From a text to a program that can be called, through the cache where there is something in it."""

from collections.abc import Sequence
from typing import Literal

from serq.base.errors import UsageError
from serq.codegen import cache, jit
from serq.codegen.compiled import Compiled, native
from serq.codegen.errors import BackendError
from serq.codegen.interface import Interface, from_json, to_json
from serq.codegen.sources import compiler_fingerprint, texts_of

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
        return _by_llvm(text, names, checked, opt, cached)
    if backend == "cpython":
        from serq.codegen.plain import by_cpython

        return by_cpython(text, names, checked)
    if backend == "c":
        from serq.codegen.c_build import by_c

        return by_c(text, names, checked)
    raise UsageError(f"there is no back end {backend!r}: auto, llvm, cpython or c")


def _by_llvm(text: str, exports: tuple[str, ...] | None, checked: bool, opt: int, cached: bool) -> Compiled:
    machine = jit.machine(opt)
    key = ""
    if cached:
        names = "*" if exports is None else " ".join(exports)
        key = cache.key_of([compiler_fingerprint(), machine.fingerprint, names, str(checked), *texts_of(text)])
        found = _from_cache(key, checked, machine)
        if found is not None:
            return found
    interface, object_file = _compiled(text, exports, checked, machine)
    if cached:
        cache.write(key, cache.Entry(to_json(interface), object_file))
    return _loaded(interface, object_file, checked, machine)


def _from_cache(key: str, checked: bool, machine: jit.Machine) -> Compiled | None:
    entry = cache.read(key)
    if entry is None:
        return None
    try:
        return _loaded(from_json(entry.interface), entry.object_file, checked, machine)
    except (BackendError, RuntimeError, ValueError, KeyError, TypeError):
        return None  # an entry that does not load is as good as none


def _loaded(interface: Interface, object_file: bytes, checked: bool, machine: jit.Machine) -> Compiled:
    symbols = [s.symbol for s in interface.exports.values()]
    loaded = jit.load(object_file, symbols, machine)
    return native("llvm", checked, interface, loaded.addresses, loaded)


def _compiled(
    text: str, exports: tuple[str, ...] | None, checked: bool, machine: jit.Machine
) -> tuple[Interface, bytes]:
    # the front end is imported only where something is compiled
    from serq.codegen.check import check
    from serq.codegen.llvm_text import llvm_text
    from serq.codegen.lower import lower
    from serq.codegen.units import unit_of_text

    module = check(unit_of_text(text), exports)
    code = lower(module, checked)
    return Interface(module.exports, module.records, code.sites), jit.object_of(llvm_text(code), machine)
