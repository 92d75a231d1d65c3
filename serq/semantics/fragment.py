"""Is a program a finite Markov chain? If not: every reason, where it stands, and what would admit it.

The rules are those of the page 'The Markov chain of a program': (M1) work is phase-type; (M2) draws steer nothing;
(M3) the time steers nothing; (M4) what steers takes finitely many values; (M5) the population is bounded; (M6) orders
are finite; (M7) time passes in every loop (the linker and the machine see to it); (M8) every hold can fit. What
depends on the states that can be reached (M5 and M8 in part) is found by exploring.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from serq.base.diagnostics import Diagnostic, Note
from serq.base.source import NOWHERE, Span
from serq.ir import expr as e
from serq.ir import program as p
from serq.semantics import fragment_errors as errors
from serq.semantics.control import Control, control_liveness, control_of
from serq.semantics.graph import Node, members
from serq.semantics.kinds import DRAWN, FINITE, NOTHING, Environment, Kind, Kinds, Shape, Source
from serq.semantics.timing import has_clocks


def violations(program: p.Program, *, fixed_work: bool = False) -> tuple[Diagnostic, ...]:
    """Every reason that can be seen in the text why the program is no finite Markov chain, in the order of places.

    `fixed_work`: fixed amounts of work are admitted, since a phase-type law will stand in for them.
    Where a program has clocks (`serq.semantics.timing`), what lasts a fixed or a geometric time is admitted: its chain
    is one of slots or semi-Markov.
    """
    control = control_of(program)
    clocks = has_clocks(control)
    found = [
        *_workload(control, clocks),
        *_step_stages(control),
        *_shared_rates(control),
        *_pools(control),
        *_steps(control, fixed_work, clocks),
        *_reused_draws(control, clocks),
    ]
    return _together(sorted(dict.fromkeys(found), key=lambda d: (d.span, d.code)))


Steering = errors.TimeInControl | errors.DrawInControl | errors.RealKey | errors.EndlessValues


def _together(found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """One complaint per source of a number that must not steer: it names the other places that the number reaches."""
    groups: dict[object, list[Diagnostic]] = {}
    for d in found:
        sources = tuple(note.span for note in d.notes)
        key = (type(d), d.what, sources) if isinstance(d, Steering) and sources else d
        groups.setdefault(key, []).append(d)
    return tuple(_one_of(group) for group in groups.values())


def _one_of(group: list[Diagnostic]) -> Diagnostic:
    first, *others = group
    places = [f"{d.place} (line {d.span.line})" for d in others if isinstance(d, Steering)]
    if not places:
        return first
    return replace(first, notes=(*first.notes, Note(message=f"it also reaches {', '.join(places)}")))


# -- the deployment and the workload ---------------------------------------------------------------------------------


def _workload(control: Control, clocks: bool) -> Iterator[Diagnostic]:
    program = control.program
    if program.trace is not None:
        yield errors.TraceReplay(span=program.trace.span)
    if isinstance(program.arrivals, p.Renewal):
        gap = program.arrivals.gap
        draws = e.draws(gap)
        if clocks and _is_clocked(control.kinds.of(gap, {})):
            pass
        elif control.kinds.of(gap, {}).shapes != {Shape.PHASE} or [d.law for d in draws] != ["exp"]:
            texts = [f"~{d.law}" for d in draws] or ["a fixed time"]
            yield errors.RenewalGap(span=gap.span, what=" and ".join(texts))
    span = unlimited_arrivals(program)
    if span is not None and not _admission_looks(control):
        yield errors.OpenWithoutLimit(span=span)


def unlimited_arrivals(program: p.Program) -> Span | None:
    """Where the program says that sessions arrive without a limit, or None when it says no such thing."""
    match program.arrivals:
        case p.Poisson(rate=rate, limit=None):
            return rate.expr.span
        case p.Renewal(gap=gap, limit=None):
            return gap.span
        case _:
            return None


def _admission_looks(control: Control) -> bool:
    """Whether anything before the first rest reads the state: then the program itself may turn sessions away."""
    graph = control.graph
    todo, seen = [graph.entry], {graph.entry}
    while todo:
        node = graph.nodes[todo.pop()]
        for x in _expressions(node.step):
            if any(isinstance(part, e.StageState | e.PoolState) for part in e.walk(x)):
                return True
        if not node.is_rest:
            todo += [t for t in node.next if t not in seen]
            seen.update(node.next)
    return False


def _shared_rates(control: Control) -> Iterator[Diagnostic]:
    for stage in control.program.stages:
        if isinstance(stage.kind, p.ProcessorSharing):
            rate = stage.kind.rate
            yield from _steers(control.kinds.of(rate, {}), f"the rate of stage {stage.name}", rate.span)


def _step_stages(control: Control) -> Iterator[Diagnostic]:
    """What a step stage reads must be finite, and its iterations must not hang on more than the state holds."""
    program = control.program
    for stage in program.stages:
        if not isinstance(stage.kind, p.Step):
            continue
        for what, x in (("budget", stage.kind.budget), ("cost", stage.kind.cost), ("chunk", stage.kind.chunk)):
            if x is not None:
                yield from _steers(control.kinds.of(x, {}), f"the {what} of stage {stage.name}", x.span)
        if stage.kind.plan_ahead:
            yield errors.StepStage(span=stage.span, what=f"step stage {stage.name} plans ahead")

    for pool in program.pools:
        if pool.preempt != "none" and any(isinstance(stage.kind, p.Step) for stage in program.stages):
            yield errors.StepStage(span=pool.span, what=f"pool {pool.name} preempts")


def _pools(control: Control) -> Iterator[Diagnostic]:
    everywhere: dict[str, Kind] = {}
    for before in control.kinds.before:
        for name, kind in before.items():
            everywhere[name] = everywhere.get(name, NOTHING) | kind
    for pool in control.program.pools:
        if pool.spill is not None:
            yield errors.SpillTier(span=pool.spill.span, pool=pool.name)
        for what, keys in (("eviction", pool.evict), ("queue", pool.queue), ("preemption", pool.victims)):
            yield from _keys(control.kinds, everywhere, f"the {what} order of pool {pool.name}", keys)


def _keys(kinds: Kinds, env: Environment, place: str, keys: tuple[e.Expr, ...]) -> Iterator[Diagnostic]:
    for key in keys:
        yield from _steers(kinds.of(key, env), place, key.span)


# -- the session -----------------------------------------------------------------------------------------------------


def _steps(control: Control, fixed_work: bool, clocks: bool) -> Iterator[Diagnostic]:
    reached = control.graph.reachable((control.graph.entry,))
    for place in sorted(reached):
        node = control.graph.nodes[place]
        if isinstance(node.step, p.Run) and not _is_step(control.program, node.step):
            kind = control.kinds.at(place, node.step.work)
            if not (clocks and _is_clocked(kind) and not _is_shared(control.program, node.step)):
                yield from _work(kind, _span(node.step.work, node), fixed_work)
        for what, x in _steering(node.step, control.program):
            if (
                clocks
                and isinstance(node.step, p.Run)
                and x is node.step.work
                and _is_clocked(control.kinds.at(place, x))
            ):
                continue
            yield from _steers(control.kinds.at(place, x), what, _span(x, node))


def _span(x: e.Expr, node: Node) -> Span:
    return x.span if x.span != NOWHERE else node.step.span


def _is_step(program: p.Program, run: p.Run) -> bool:
    return any(isinstance(program.stages[i].kind, p.Step) for i in members(run.stage))


def _is_shared(program: p.Program, run: p.Run) -> bool:
    return any(isinstance(program.stages[i].kind, p.ProcessorSharing) for i in members(run.stage))


def _is_clocked(kind: Kind) -> bool:
    """Whether an amount is fixed, out of finitely many, or made of geometric draws (the laws refuse sums of them)."""
    return kind.shapes <= FINITE | {Shape.SUM} and {s.text for s in kind.sources} <= {"~geometric"}


def _steering(step: p.Instruction, program: p.Program) -> Iterator[tuple[str, e.Expr]]:
    """The expressions that decide where the session goes and what it takes, with names for them."""
    match step:
        case p.Branch(probability=x):
            yield "this branch", x
        case p.Choose(count=count, keys=keys):
            for x in (count, *keys):
                yield "this choose", x
        case p.Hold(parts=parts, reuse=reuse):
            for part in parts:
                yield from _index(part.pool)
                yield "the units of this hold", part.units
                if part.reserve is not None:
                    yield "the reserve of this hold", part.reserve
            if reuse is not None:
                yield "the reuse of this hold", reuse
        case p.Release(cache=cache) if cache is not None:
            yield "what this hold leaves cached", cache
        case p.Grow(pool=ref, units=x):
            yield from _index(ref)
            yield "this growth", x
        case p.Drop(pool=ref):
            yield from _index(ref)
        case p.Run(stage=ref, work=work):
            yield from _index(ref)
            if _is_step(program, step):
                yield "the number of tokens of this run", work


def _index(ref: e.Ref) -> Iterator[tuple[str, e.Expr]]:
    if ref.index is not None:
        yield f"the index of {ref.name}", ref.index


def _expressions(step: p.Instruction) -> Iterator[e.Expr]:
    match step:
        case p.Set(expr=x) | p.Observe(expr=x):
            yield x
        case p.Branch(probability=x):
            yield x
        case p.Choose(count=count, keys=keys):
            yield from (count, *keys)


def _steers(kind: Kind, place: str, span: Span) -> Iterator[Diagnostic]:
    """The violations of an expression that must be finite."""
    if kind.is_finite:
        return
    for reason in dict.fromkeys(s.reason for s in _ordered(kind)):
        sources = [s for s in _ordered(kind) if s.reason == reason]
        what = ", ".join(dict.fromkeys(s.text for s in sources))
        notes = _notes(sources, span)
        match reason:
            case "time":
                yield errors.TimeInControl(span=span, place=place, what=what, notes=notes)
            case "draw":
                yield errors.DrawInControl(span=span, place=place, what=what, notes=notes)
            case "real key":
                yield errors.RealKey(span=span, place=place, what=what)
            case _:
                yield errors.EndlessValues(span=span, place=place, what=what, notes=notes)


def _ordered(kind: Kind) -> list[Source]:
    return sorted(kind.sources, key=lambda s: (s.span, s.text))


def _notes(sources: list[Source], span: Span) -> tuple[Note, ...]:
    """Where the numbers come from, when that is on another line than the complaint."""
    return tuple(Note(message=f"{s.text} is read here", span=s.span) for s in sources if s.span.line != span.line)


_WITH_A_STAND_IN = {"~exp", "~erlang", "~h2", "~uniform"}
"""Draws whose sums and multiples have a phase-type form, or something that stands for it."""


def _work(kind: Kind, span: Span, fixed_work: bool) -> Iterator[Diagnostic]:
    """The violations of an amount of work that must be zero or a finite multiple of one phase-type draw."""
    if Shape.NUMBER in kind.shapes and not fixed_work:
        yield errors.FixedWork(span=span)
    if kind.shapes <= {Shape.ZERO, Shape.NUMBER, Shape.PHASE}:
        return
    if fixed_work and kind.shapes <= FINITE | DRAWN and {s.text for s in kind.sources} <= _WITH_A_STAND_IN:
        return
    sources = _ordered(kind)
    rest = [s for s in sources if s.reason != "draw" and s.text != "~geometric"]
    if rest:
        yield from _steers(Kind(kind.shapes, frozenset(rest)), "the work of this run", span)
        return
    notes = _notes(sources, span)
    what = " and ".join(dict.fromkeys(s.text for s in sources))
    general = [s.text for s in sources if s.text not in ("~exp", "~erlang", "~h2")]
    if general:
        laws = " and ".join(dict.fromkeys(general))
        of = "a function of " if Shape.OPAQUE in kind.shapes else ""
        plain = (Note(message=_A_PLAIN_GEOMETRIC),) if of and "~geometric" in general else ()
        yield errors.GeneralWork(span=span, what=of + laws, notes=(*notes, *plain))
    else:
        yield errors.CompositeWork(span=span, what=what, notes=notes)


_A_PLAIN_GEOMETRIC = (
    "where time goes in slots a plain ~geometric is admitted; a function of it that has finitely many values, as "
    "`min(3, ~geometric(q))` has, is a ~choice among them"
)


def _reused_draws(control: Control, clocks: bool) -> Iterator[Diagnostic]:
    """Draws that steer work again after they were spent, or that two attributes share."""
    live_in, needed = control_liveness(control)
    for place, node in enumerate(control.graph.nodes):
        written = ""
        match node.step:
            case p.Run(work=x) if clocks or not _is_step(control.program, node.step):
                pass
            case p.Set(name=name, expr=x) if node.origin in needed:
                written = name
            case _:
                continue
        after = frozenset().union(*(live_in[t] for t in control.graph.edges(place)))
        for name in sorted(e.attributes_read(x) & after):
            kind = control.kinds.before[place].get(name, NOTHING)
            drawn = any(s.reason == "draw" or s.text == "~geometric" for s in kind.sources)
            if name != written and kind.shapes & DRAWN and drawn:
                yield errors.DrawReused(span=_span(x, node), name=name)
