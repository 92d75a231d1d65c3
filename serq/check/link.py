"""AST to `Program`: the only maker of one. Every fault is found in one go."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from serq.base.diagnostics import Diagnostic, Note
from serq.base.errors import LoadError
from serq.base.source import Span
from serq.check import advice as w
from serq.check import name_errors as n
from serq.check.assignment import unset_attributes
from serq.check.constants import define_lets
from serq.check.deployment import Deployment, place_members
from serq.check.loops import timeless_loops
from serq.check.overrides import OverrideValue, resolve_overrides
from serq.check.resolve import Resolver
from serq.check.session import flatten
from serq.check.symbols import collect
from serq.check.workload import WorkloadLinker, link_run
from serq.ir import program as p
from serq.syntax import ast as a

Block = TypeVar("Block", a.Workload, a.Session, a.RunBlock)


@dataclass(frozen=True, slots=True)
class Linked:
    """A program without faults, and what is odd about it."""

    program: p.Program
    warnings: tuple[Diagnostic, ...]


def link(module: a.Module, overrides: Mapping[str, OverrideValue] | None = None) -> Linked:
    """Links a parsed program.

    `overrides` replaces the values of lets, as `--set NAME=EXPR` does; a text is parsed as an expression and may read
    other lets. Raises `LoadError` with every fault of the program, `UsageError` for a wrong override.
    """
    return _Linker(module, overrides or {}).link()


class _Linker:
    def __init__(self, module: a.Module, overrides: Mapping[str, OverrideValue]) -> None:
        self.module = module
        self.symbols, faults = collect(module)
        self.overrides = resolve_overrides(self.symbols, overrides)
        self.found: list[Diagnostic] = list(faults)
        self.resolver = Resolver(self.symbols, self.found.append)

    def link(self) -> Linked:
        """The program, or every fault."""
        constants = define_lets(self.symbols, self.resolver, self.overrides)
        workload = self._the_block(a.Workload, "workload", "`workload { arrive closed(N); }`")
        session = self._the_block(a.Session, "session", "`session { ... }`")
        run = self._the_block(a.RunBlock, "run", None)
        program = self._program(constants, workload, session, run)
        if session is not None:
            self.found += timeless_loops(program, self.resolver.constants)
            self.found += unset_attributes(program)
            self._look_over(program, session)
        ordered = sorted(self.found, key=lambda d: (d.span, d.code))
        errors = [d for d in ordered if d.severity == "error"]
        if errors:  # the warnings are left out: a fault may have made them
            raise LoadError(self.module.source, errors)
        return Linked(program, tuple(ordered))

    def _the_block(self, kind: type[Block], name: str, usage: str | None) -> Block | None:
        """The one block of a kind; reports further ones, and its absence when there must be one."""
        blocks = [item for item in self.module.items if isinstance(item, kind)]
        for extra in blocks[1:]:
            note = Note(message="the first is here", span=_keyword(blocks[0].span, name))
            self.found.append(
                n.RepeatedPart(span=_keyword(extra.span, name), notes=(note,), owner="the program", part=f"`{name}`")
            )
        if blocks:
            return blocks[0]
        if usage is not None:
            self.found.append(n.MissingPart(span=Span(1, 1, 1, 2), owner="the program", part=name, usage=usage))
        return None

    def _program(
        self,
        constants: tuple[p.Constant, ...],
        workload: a.Workload | None,
        session: a.Session | None,
        run: a.RunBlock | None,
    ) -> p.Program:
        place_members(self.resolver)
        deployment = Deployment(self.resolver)
        pools, stages, gauges = deployment.pools(), deployment.stages(), deployment.gauges()
        arriving = WorkloadLinker(self.resolver)
        if workload is not None:
            arriving.link(workload)
        code = () if session is None else flatten(self.resolver, pools, session)
        settings = p.RunSettings() if run is None else link_run(self.resolver, run)
        init, turn = arriving.blocks["init"], arriving.blocks["turn"]
        return p.Program(
            source=self.module.source,
            name=_name(self.module.source.name),
            constants=constants,
            pools=pools,
            stages=stages,
            gauges=gauges,
            arrivals=arriving.arrivals,
            trace=arriving.trace,
            init=init,
            turn=turn,
            code=code,
            attributes=tuple(self.symbols.attributes),
            observes=_observes((*init, *turn, *code)),
            run=settings,
        )

    def _look_over(self, program: p.Program, session: a.Session) -> None:
        """The warnings about the program as a whole."""
        if not program.observes:
            self.found.append(w.NothingObserved(span=_keyword(session.span, "session")))
        turns = any(isinstance(x, p.Turn) for x in program.code)
        if program.trace is not None and not turns:
            self.found.append(w.NoTurns(span=program.trace.span, what="the trace"))
        elif program.turn and not turns:
            self.found.append(w.NoTurns(span=program.turn[0].span, what="the workload's `turn` block"))
        kinds = {"let": "constant", "pool": "pool", "stage": "stage"}
        for name, symbol in self.symbols.table.items():
            if symbol.kind in kinds and name not in self.symbols.used:
                self.found.append(w.Unused(span=symbol.span, kind=kinds[symbol.kind], name=name))


def _name(file: str) -> str:
    """The program's name: the file's without folders and suffix, with `_` for what does not print (a line break)."""
    stem = PurePath(file).stem.strip("<>")
    return "".join(c if c.isprintable() else "_" for c in stem) or "program"


def _observes(statements: Iterable[p.Instruction]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s.name for s in statements if isinstance(s, p.Observe)))


def _keyword(span: Span, word: str) -> Span:
    """The first word of what stands at the span."""
    return Span(span.line, span.column, span.line, span.column + len(word))
