"""The workload and the run: how sessions arrive, what the blocks set, how long to simulate."""

from serq.base.diagnostics import Note
from serq.base.source import Span
from serq.check import constants as c
from serq.check import name_errors as n
from serq.check import scopes
from serq.check.fold import shown
from serq.check.resolve import Resolver
from serq.check.scope_errors import WorkloadStatement
from serq.ir import program as p
from serq.syntax import ast as a

LimitedArrivals = p.Poisson | p.Renewal

_SEEDS = 2**64
_KEY_COLUMNS = ("session", "turn", "start")
"""Columns of a trace that say which row it is and when; they are no attributes."""
_RATE = c.Need(c.FINITE_POSITIVE.words, c.FINITE_POSITIVE.holds, "a workload without arrivals says `arrive none;`")
_LIMIT = c.Need(c.WHOLE.words, c.WHOLE.holds, "leave `limit` out where there is none")
_SEED = c.Need("a whole number from 0 to 2^64 - 1", lambda x: c.WHOLE.holds(x) and x < _SEEDS)


class WorkloadLinker:
    """Links the workload block of one program."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.report = resolver.report
        self.arrivals: p.Arrivals = p.NoArrivals()
        self.trace: p.Trace | None = None
        self.blocks: dict[str, tuple[p.Set | p.Observe, ...]] = {"init": (), "turn": ()}

    def link(self, workload: a.Workload) -> None:
        """Fills `arrivals`, `trace` and `blocks`."""
        first: dict[str, Span] = {}
        for item in workload.items:
            match item:
                case a.Arrive():
                    if self._is_first("arrive", item.span, first):
                        self.arrivals = self._arrive(item)
                case a.Trace():
                    if self._is_first("trace", item.span, first):
                        self.trace = self._trace(item)
                case a.WorkloadBlock():
                    if self._is_first(item.name, item.span, first):
                        self.blocks[item.name] = self._block(item)
        if isinstance(self.arrivals, p.FromTrace) and self.trace is None:
            usage = '`trace "FILE.csv";`'
            span = first["arrive"]
            self.report(n.MissingPart(span=span, owner="a workload with `arrive trace;`", part="trace", usage=usage))
        if "arrive" not in first:
            usage = "`arrive closed (N);`, `arrive poisson (RATE);` or another `arrive`"
            self.report(
                n.MissingPart(
                    span=_keyword(workload.span, "workload"), owner="the workload", part="arrivals", usage=usage
                )
            )

    def _is_first(self, name: str, span: Span, first: dict[str, Span]) -> bool:
        if name not in first:
            first[name] = span
            return True
        note = Note(message="the first is here", span=first[name])
        self.report(n.RepeatedPart(span=span, notes=(note,), owner="the workload", part=f"`{name}`"))
        return False

    def _trace(self, trace: a.Trace) -> p.Trace:
        names = [column.name for column in trace.columns]
        for place, column in enumerate(trace.columns):
            if column.name in (*names[:place], *p.TRACE_ATTRIBUTES, *_KEY_COLUMNS):
                owner, part = "the trace", f"the column `{column.name}`"
                self.report(n.RepeatedPart(span=column.span, owner=owner, part=part))
        return p.Trace(trace.path, trace.ordered, tuple(names), trace.span)

    def _arrive(self, arrive: a.Arrive) -> p.Arrivals:
        if arrive.amount is None:
            return p.FromTrace() if arrive.kind == "trace" else p.NoArrivals()
        limit = None if arrive.limit is None else c.fold_place(self.resolver, arrive.limit, "the limit", _LIMIT)
        match arrive.kind:
            case "poisson":
                return p.Poisson(c.fold_place(self.resolver, arrive.amount, "the arrival rate", _RATE), limit)
            case "renewal":
                gap = self.resolver.expr(arrive.amount, scopes.RENEWAL_GAP)
                c.check_if_constant(self.resolver, gap, "the gap between arrivals", c.FINITE_POSITIVE)
                return p.Renewal(gap, limit)
            case "closed":
                return p.Closed(c.fold_place(self.resolver, arrive.amount, "the population", c.WHOLE))
            case _:
                return p.Batch(c.fold_place(self.resolver, arrive.amount, "the number of sessions", c.WHOLE))

    def _block(self, block: a.WorkloadBlock) -> tuple[p.Set | p.Observe, ...]:
        out: list[p.Set | p.Observe] = []
        for statement in block.body.statements:
            match statement:
                case a.Set(name=name, value=value):
                    out.append(p.Set(name, self.resolver.expr(value, scopes.WORKLOAD_BLOCK), statement.span))
                case a.Observe(name=name, value=value):
                    out.append(p.Observe(name, self.resolver.expr(value, scopes.WORKLOAD_BLOCK), statement.span))
                case _:
                    word = type(statement).__name__.lower()
                    span = _keyword(statement.span, word)
                    self.report(WorkloadStatement(span=span, statement=word, block=block.name))
        return tuple(out)


def link_run(resolver: Resolver, block: a.RunBlock) -> p.RunSettings:
    """The settings of a `run` block."""
    needs = {"horizon": c.FINITE_POSITIVE, "warmup": c.FINITE_NOT_NEGATIVE, "seed": _SEED}
    values: dict[str, p.Folded] = {}
    first: dict[str, Span] = {}
    for option in block.options:
        if option.name in first:
            note = Note(message="the first is here", span=first[option.name])
            resolver.report(n.RepeatedPart(span=option.span, notes=(note,), owner="the run", part=f"`{option.name}`"))
            continue
        first[option.name] = option.span
        values[option.name] = c.fold_place(resolver, option.value, f"the {option.name}", needs[option.name])
    horizon, warmup = values.get("horizon"), values.get("warmup")
    sound = c.STAND_IN not in (horizon, warmup)
    if sound and horizon is not None and warmup is not None and warmup.exact >= horizon.exact:
        need = f"below the horizon, {shown(horizon.exact)}"
        span = next(o.value.span for o in block.options if o.name == "warmup")
        resolver.report(n.WrongConstant(span=span, what="the warmup", need=need, value=shown(warmup.exact)))
    return p.RunSettings(horizon, warmup, values.get("seed"))


def _keyword(span: Span, word: str) -> Span:
    """The first word of what stands at the span."""
    return Span(span.line, span.column, span.line, span.column + len(word))
