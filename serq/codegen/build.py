"""From a text to machine code, at any level of optimisation, through the cache where there is something in it."""

from functools import cached_property

from serq.codegen import cache, jit
from serq.codegen.compiled import Compiled, native
from serq.codegen.errors import BackendError
from serq.codegen.interface import Interface, from_json, to_json
from serq.codegen.memory import Record
from serq.codegen.sources import compiler_fingerprint, texts_of


class Build:
    """A text on its way to machine code. What several levels of optimisation have in common is done once, and they
    share the classes of their records: a record that one has made can be given to another.
    """

    def __init__(self, text: str, exports: tuple[str, ...] | None, checked: bool = False, cached: bool = True) -> None:
        self.text = text
        self.exports = exports
        self.checked = checked
        self.cached = cached
        self.size = 0
        """Bytes of the object file that was loaded last."""
        self._classes: dict[str, type[Record]] = {}

    def kept(self, opt: int) -> Compiled | None:
        """The program as the cache has it, None where it has none. BackendError where llvmlite is missing."""
        machine = jit.machine(opt)
        entry = cache.read(self._key(machine)) if self.cached else None
        if entry is None:
            return None
        try:
            return self._loaded(from_json(entry.interface), entry.object_file, machine)
        except (BackendError, RuntimeError, ValueError, KeyError, TypeError):
            return None  # an entry that does not load is as good as none

    def made(self, opt: int) -> Compiled:
        """The program, compiled and put into the cache. RestrictedError for a text outside the language."""
        machine = jit.machine(opt)
        interface, llvm_text = self._translated
        object_file = jit.object_of(llvm_text, machine)
        if self.cached:
            cache.write(self._key(machine), cache.Entry(to_json(interface), object_file))
        return self._loaded(interface, object_file, machine)

    def _key(self, machine: jit.Machine) -> str:
        names = "*" if self.exports is None else " ".join(self.exports)
        return cache.key_of([machine.fingerprint, names, str(self.checked), *self._read])

    @cached_property
    def _read(self) -> list[str]:
        """All that the program is made of beside the machine."""
        return [compiler_fingerprint(), *texts_of(self.text)]

    @cached_property
    def _translated(self) -> tuple[Interface, str]:
        """What a caller must know, and the text that LLVM reads."""
        # the front end is imported only where something is compiled
        from serq.codegen.check import check
        from serq.codegen.llvm_text import llvm_text
        from serq.codegen.lower import lower
        from serq.codegen.units import unit_of_text

        module = check(unit_of_text(self.text), self.exports)
        code = lower(module, self.checked)
        return Interface(module.exports, module.records, code.sites), llvm_text(code)

    def _loaded(self, interface: Interface, object_file: bytes, machine: jit.Machine) -> Compiled:
        symbols = [s.symbol for s in interface.exports.values()]
        self.size = len(object_file)
        loaded = jit.load(object_file, symbols, machine)
        return native("llvm", self.checked, interface, loaded.addresses, loaded, self._classes)
