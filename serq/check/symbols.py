"""The names of a program: what each one is, and where it was given."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from serq.base.diagnostics import Diagnostic, Note
from serq.base.source import Span
from serq.check.name_errors import NameClash, ReservedName
from serq.check.scopes import RESERVED
from serq.ir.program import TRACE_ATTRIBUTES
from serq.syntax import ast as a

Kind = Literal["let", "pool", "stage", "gauge", "attribute"]

ARTICLES: dict[Kind, str] = {
    "let": "a constant", "pool": "a pool", "stage": "a stage", "gauge": "a gauge", "attribute": "a session attribute",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name and what it stands for. `traced`: an attribute that the trace sets."""

    name: str
    kind: Kind
    span: Span
    traced: bool = False


@dataclass
class Symbols:
    """Every name of a program by kind, each in order of first appearance; `used` collects what is mentioned."""

    table: dict[str, Symbol] = field(default_factory=dict)
    lets: dict[str, a.Let] = field(default_factory=dict)
    pools: dict[str, a.Pool] = field(default_factory=dict)
    stages: dict[str, a.Stage] = field(default_factory=dict)
    gauges: dict[str, a.Gauge] = field(default_factory=dict)
    attributes: dict[str, Span] = field(default_factory=dict)
    has_trace: bool = False
    used: set[str] = field(default_factory=set)

    def kind(self, name: str) -> Kind | None:
        """What the name stands for, or None."""
        symbol = self.table.get(name)
        return None if symbol is None else symbol.kind


def collect(module: a.Module) -> tuple[Symbols, list[Diagnostic]]:
    """The names that the module gives, and the clashes among them."""
    collector = _Collector()
    for item in module.items:
        collector.item(item)
    return collector.symbols, collector.faults


class _Collector:
    def __init__(self) -> None:
        self.symbols = Symbols()
        self.faults: list[Diagnostic] = []
        self.told: set[tuple[str, Kind]] = set()

    def item(self, item: a.Item) -> None:
        s = self.symbols
        match item:
            case a.Let():
                self.declare(item.name, "let", item.name_span)
                s.lets.setdefault(item.name, item)
            case a.Pool():
                self.declare(item.name, "pool", item.name_span)
                s.pools.setdefault(item.name, item)
            case a.Stage():
                self.declare(item.name, "stage", item.name_span)
                s.stages.setdefault(item.name, item)
            case a.Gauge():
                self.declare(item.name, "gauge", item.name_span)
                s.gauges.setdefault(item.name, item)
            case a.Workload(items=items):
                self.workload(items)
            case a.Session(body=body):
                self.block(body)
            case a.RunBlock():
                pass

    def workload(self, items: Iterable[a.Arrive | a.Trace | a.WorkloadBlock]) -> None:
        for item in items:
            match item:
                case a.Trace(columns=columns, span=span):
                    self.symbols.has_trace = True
                    for name in TRACE_ATTRIBUTES:
                        self.attribute(name, span, traced=True)
                    for column in columns:
                        self.attribute(column.name, column.span, traced=True)
                case a.WorkloadBlock(body=body):
                    self.block(body)
                case a.Arrive():
                    pass

    def block(self, block: a.Block) -> None:
        for statement in statements(block):
            if isinstance(statement, a.Set | a.Choose):
                self.attribute(statement.name, statement.name_span)

    def attribute(self, name: str, span: Span, traced: bool = False) -> None:
        old = self.symbols.table.get(name)
        if old is not None and old.kind == "attribute":
            self.symbols.table[name] = Symbol(name, "attribute", old.span, old.traced or traced)
        elif self.declare(name, "attribute", span, traced):
            self.symbols.attributes[name] = span

    def declare(self, name: str, kind: Kind, span: Span, traced: bool = False) -> bool:
        """Enters a name unless it is taken; says so when it is, once for an attribute that is set many times."""
        if name in RESERVED:
            self.tell(ReservedName(span=span, name=name, kind=ARTICLES[kind]), name, kind)
            return False
        old = self.symbols.table.get(name)
        new = Symbol(name, kind, span, traced)
        if old is None:
            self.symbols.table[name] = new
            return True
        self.tell(_clash(old, new), name, kind)
        return False

    def tell(self, fault: Diagnostic, name: str, kind: Kind) -> None:
        if kind != "attribute" or (name, kind) not in self.told:
            self.faults.append(fault)
        self.told.add((name, kind))


def _clash(old: Symbol, new: Symbol) -> NameClash:
    """Reported where the later of the two names stands in the text."""
    first, second = sorted((old, new), key=lambda s: s.span)
    note = Note(message=f"{_owner(first)} `{first.name}` is here", span=first.span)
    names = {"name": new.name, "first": _owner(first, second), "second": _owner(second)}
    if old.traced or new.traced:
        listed = " ".join(TRACE_ATTRIBUTES)
        advice = f"a trace adds the attributes `{listed}`: give the {(new if old.traced else old).kind} another name"
        return NameClash(span=second.span, notes=(note,), advice=advice, **names)
    return NameClash(span=second.span, notes=(note,), **names)


def _owner(symbol: Symbol, other: Symbol | None = None) -> str:
    if symbol.traced:
        return "an attribute of the trace"
    text = ARTICLES[symbol.kind]
    return text.replace("a ", "another ", 1) if other is not None and other.kind == symbol.kind else text


def statements(block: a.Block) -> Iterator[a.Statement]:
    """Every statement of the block and of the blocks in it, in the order of the text."""
    for statement in block.statements:
        yield statement
        match statement:
            case a.Hold(body=body) | a.Loop(body=body):
                yield from statements(body)
            case a.Branch(then=then, otherwise=otherwise):
                yield from statements(then)
                if otherwise is not None:
                    yield from statements(otherwise)
            case _:
                pass
