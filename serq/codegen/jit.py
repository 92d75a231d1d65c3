"""LLVM through llvmlite: from a module's text to an object file, and from an object file to addresses.

llvmlite is imported when a function here is first called, and only its `binding`. What is loaded lives as long as the
`Loaded` that holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from serq.codegen.errors import BackendError

if TYPE_CHECKING:
    import llvmlite.binding as llvm


@dataclass(frozen=True, slots=True)
class Loaded:
    """Machine code in memory: where each exported symbol is. `engine` owns the memory."""

    engine: llvm.ExecutionEngine
    addresses: dict[str, int]


@dataclass(frozen=True, slots=True)
class Machine:
    """The computer at hand, as LLVM knows it. `opt` is the level of optimisation, 0 to 3."""

    triple: str
    cpu: str
    features: str
    opt: int
    versions: str

    @property
    def fingerprint(self) -> str:
        """All that machine code depends on beside the program."""
        return "\n".join([self.versions, self.triple, self.cpu, self.features, str(self.opt)])

    def target(self) -> llvm.TargetMachine:
        """A target of its own for each use: an execution engine takes the one it gets into its possession."""
        import llvmlite.binding as llvm

        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(cpu=self.cpu, features=self.features, opt=self.opt, jit=True)


def available() -> bool:
    """Whether llvmlite can be imported."""
    try:
        import llvmlite.binding  # noqa: F401 (the import is the question)
    except (ImportError, OSError):
        return False
    return True


def machine(opt: int) -> Machine:
    """The computer at hand. Raises `BackendError` where llvmlite is missing."""
    try:
        import llvmlite
        import llvmlite.binding as llvm
    except (ImportError, OSError) as error:
        raise BackendError(f"the llvm back end needs llvmlite, which cannot be imported: {error}") from None
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple, cpu, features = llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    versions = f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"
    return Machine(triple, cpu, features, opt, versions)


def object_of(text: str, machine: Machine) -> bytes:
    """The object file of a module. Raises `BackendError` where LLVM refuses the text, which is an error of ours."""
    module, target = optimised(text, machine)
    compiled: bytes = target.emit_object(module)
    return compiled


def optimised(text: str, machine: Machine) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    """A module as it is before it becomes machine code, and the target. Raises what `object_of` raises."""
    import llvmlite.binding as llvm

    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise BackendError(f"LLVM refuses the generated text: {error}") from None
    target = machine.target()
    module.triple = target.triple
    module.data_layout = str(target.target_data)
    passes = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=machine.opt))
    passes.getModulePassManager().run(module, passes)
    return module, target


def load(object_file: bytes, symbols: Sequence[str], machine: Machine) -> Loaded:
    """The machine code of an object file, ready to be called. Raises `BackendError` if a symbol is not there."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine.target())
    engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
    engine.finalize_object()
    addresses = {s: engine.get_function_address(s) for s in symbols}
    missing = [s for s, a in addresses.items() if not a]
    if missing:
        raise BackendError(f"the object file lacks {', '.join(missing)}")
    return Loaded(engine, addresses)
