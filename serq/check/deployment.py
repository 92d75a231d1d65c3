"""Pools, stages and gauges: arrays become members, options find their values, names of partners their places."""

from collections.abc import Iterable
from typing import Literal, cast

from serq.base.diagnostics import Note
from serq.base.source import Span
from serq.check import constants as c
from serq.check import form_errors as f
from serq.check import name_errors as n
from serq.check import scopes
from serq.check.resolve import Resolver
from serq.ir import expr as e
from serq.ir import program as p
from serq.syntax import ast as a

_MOST_MEMBERS = 100_000
"""Beyond this an array is a slip of the pen, and would only fill the memory."""

_STEP_NEEDS = (
    ("budget", "`budget EXPR;` (tokens of one iteration, or `inf`)"),
    ("cost", "`cost EXPR;` (the time that an iteration takes)"),
)


def place_members(resolver: Resolver) -> None:
    """Decides the size of every array and where the members of every pool and stage begin among their kind."""
    bases, symbols = resolver.bases, resolver.symbols
    _place(resolver, symbols.pools.values(), bases.pool)
    _place(resolver, symbols.stages.values(), bases.stage)


def _place(resolver: Resolver, declared: Iterable[a.Pool] | Iterable[a.Stage], bases: dict[str, int]) -> None:
    start = 0
    need = c.Need(f"a whole number from 1 to {_MOST_MEMBERS}", lambda x: c.COUNT.holds(x) and x <= _MOST_MEMBERS)
    for item in declared:
        what = f"the size of `{item.name}`"
        folded = c.STAND_IN if item.size is None else c.fold_place(resolver, item.size, what, need)
        size = 1 if folded is c.STAND_IN else p.whole(folded)
        bases[item.name] = start
        resolver.bases.size[item.name] = size
        start += size


def members(name: str, size: a.Expr | None, count: int) -> list[str]:
    """The names of the members: the name itself, or `name[0]`, `name[1]`, ... of an array."""
    return [name] if size is None else [f"{name}[{i}]" for i in range(count)]


class Deployment:
    """Links the pools, stages and gauges of one program."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.report = resolver.report

    def pools(self) -> tuple[p.Pool, ...]:
        """Every pool, arrays as their members."""
        return tuple(pool for declared in self.resolver.symbols.pools.values() for pool in self._pool(declared))

    def stages(self) -> tuple[p.Stage, ...]:
        """Every stage, arrays as their members."""
        return tuple(stage for declared in self.resolver.symbols.stages.values() for stage in self._stage(declared))

    def gauges(self) -> tuple[p.Gauge, ...]:
        """Every gauge."""
        declared = self.resolver.symbols.gauges.values()
        return tuple(p.Gauge(g.name, self.resolver.expr(g.value, scopes.gauge(g.name)), g.span) for g in declared)

    # -- pools -------------------------------------------------------------------------------------------------------

    def _pool(self, declared: a.Pool) -> list[p.Pool]:
        owner = f"pool `{declared.name}`"
        options: dict[str, a.PoolOption] = {}
        spills: list[a.SpillOption] = []
        first: dict[str, Span] = {}
        for option in declared.options:
            name = option.name if isinstance(option, a.PoolOption) else "spill"
            if self._is_first(owner, name, option.span, first):
                if isinstance(option, a.PoolOption):
                    options[name] = option
                else:
                    spills.append(option)
        size = self.resolver.bases.size[declared.name]
        vias = self._admit_via(declared, options.get("admit"), size)
        offload = [self._spill(declared, spill, size) for spill in spills] or [[None] * size]
        cap, block = self._cap(declared, options), self._block(declared, options)
        evict = self._keys(options.get("evict"), scopes.EVICTION_KEY)
        queue = self._keys(options.get("queue"), scopes.QUEUE_KEY)
        victims = self._keys(options.get("preempt"), scopes.VICTIM_KEY)
        preempt = cast(Literal["none", "lifo", "by"], options["preempt"].word if "preempt" in options else "none")
        pinned = "pin" in options
        return [
            p.Pool(name, cap, block, evict, preempt, victims, queue, vias[i], pinned, offload[0][i], declared.span)
            for i, name in enumerate(members(declared.name, declared.size, size))
        ]

    def _is_first(self, owner: str, name: str, span: Span, first: dict[str, Span]) -> bool:
        if name not in first:
            first[name] = span
            return True
        note = Note(message="the first is here", span=first[name])
        self.report(n.RepeatedPart(span=span, notes=(note,), owner=owner, part=f"`{name}`"))
        return False

    def _cap(self, declared: a.Pool, options: dict[str, a.PoolOption]) -> p.Folded:
        if "cap" not in options:
            return c.number(float("inf"))
        return c.fold_place(self.resolver, options["cap"].values[0], f"the cap of `{declared.name}`", c.NOT_NEGATIVE)

    def _block(self, declared: a.Pool, options: dict[str, a.PoolOption]) -> p.Folded | None:
        if "block" not in options:
            return None
        return c.fold_place(self.resolver, options["block"].values[0], f"the block of `{declared.name}`", c.COUNT)

    def _keys(self, option: a.PoolOption | None, place: scopes.Place) -> tuple[e.Expr, ...]:
        return () if option is None else tuple(self.resolver.expr(x, place) for x in option.values)

    def _admit_via(self, declared: a.Pool, option: a.PoolOption | None, size: int) -> list[int | None]:
        if option is None or option.word is None:
            return [None] * size
        written = a.Reference(option.word, span=option.word_span)
        self.resolver.need_step(written, "`admit via`", "only a step stage admits at its iterations")
        return self._pair(declared, written, "stage", size)

    def _pair(self, owner: a.Pool | a.Stage, written: a.Reference, kind: str, size: int) -> list[int | None]:
        """The partner's place for each member of the owner: a single partner serves all, an array one each."""
        resolver = self.resolver
        declared = resolver.symbols.pools if kind == "pool" else resolver.symbols.stages
        bases = resolver.bases.pool if kind == "pool" else resolver.bases.stage
        partner = declared.get(written.name)
        if partner is not None and partner.size is not None and written.index is None:
            resolver.symbols.used.add(written.name)
            count, base = resolver.bases.size[written.name], bases[written.name]
            if owner.size is not None and count == size:
                return [base + i for i in range(size)]
            own = "has no members" if owner.size is None else f"has {size}"
            fault = n.UnequalArrays(
                span=written.span, name=written.name, kind=kind, size=count, owner=owner.name, owner_size=own
            )
            self.report(fault)
            return [base] * size
        place = scopes.constant("the index of a partner")
        ref = resolver.pool(written, place) if kind == "pool" else resolver.stage(written, place)
        if ref is None:
            return [None] * size
        index = None if ref.index is None else resolver.constants.number(ref.index)
        return [ref.base + (int(index) if index is not None and 0 <= index < ref.size else 0)] * size

    def _spill(self, declared: a.Pool, option: a.SpillOption, size: int) -> list[p.Spill | None]:
        tiers = self._pair(declared, option.tier, "pool", size)
        vias = self._pair(declared, option.via, "stage", size)
        work = self.resolver.expr(option.work, scopes.SPILL)
        when = self.resolver.expr(option.when, scopes.SPILL)
        if option.tier.name == declared.name:
            self.report(f.SpillIntoItself(span=option.tier.span, pool=declared.name))
        stage = self.resolver.symbols.stages.get(option.via.name)
        if stage is not None and stage.kind == "step":
            self.report(f.SpillViaStep(span=option.via.span, stage=stage.name))
        return [
            None if tier is None or via is None else p.Spill(tier, via, work, when, option.span)
            for tier, via in zip(tiers, vias, strict=True)
        ]

    # -- stages ------------------------------------------------------------------------------------------------------

    def _stage(self, declared: a.Stage) -> list[p.Stage]:
        size = self.resolver.bases.size[declared.name]
        kinds = self._step(declared, size) if declared.kind == "step" else [self._kind(declared)] * size
        names = members(declared.name, declared.size, size)
        return [p.Stage(name, kind, declared.span) for name, kind in zip(names, kinds, strict=True)]

    def _kind(self, declared: a.Stage) -> p.StageKind:
        argument = declared.argument
        match declared.kind:
            case "fifo" if argument is not None:
                need = c.Need(c.COUNT.words, c.COUNT.holds, "for a server for every job write `delay`")
                return p.Fifo(
                    c.fold_place(self.resolver, argument, f"the number of servers of `{declared.name}`", need)
                )
            case "ps" if argument is not None:
                rate = self.resolver.expr(argument, scopes.PS_RATE)
                return p.ProcessorSharing(
                    c.check_if_constant(self.resolver, rate, f"the rate of `{declared.name}`", c.FINITE_POSITIVE)
                )
            case "fifo":
                return p.Fifo(c.number(1))
            case _:
                return p.Delay()

    def _step(self, declared: a.Stage, size: int) -> list[p.StageKind]:
        options: dict[str, a.StepOption] = {}
        first: dict[str, Span] = {}
        owner = f"stage `{declared.name}`"
        for option in declared.options:
            if self._is_first(owner, option.name, option.span, first):
                options[option.name] = option
        for name, usage in _STEP_NEEDS:
            if name not in options:
                self.report(n.MissingPart(span=declared.name_span, owner=owner, part=name, usage=usage))
        budget = self._option(declared, options, "budget", scopes.BUDGET, c.POSITIVE)
        cost = self._option(declared, options, "cost", scopes.COST, c.FINITE_NOT_NEGATIVE)
        chunk = self._option(declared, options, "chunk", scopes.CHUNK, c.NOT_NEGATIVE) if "chunk" in options else None
        switches = "exclusive" in options, "decode" in options, "plan" in options
        memory = options.get("memory")
        pools: list[int | None] = [None] * size
        if memory is not None and memory.word is not None:
            pools = self._pair(declared, a.Reference(memory.word, span=memory.word_span), "pool", size)
        return [p.Step(budget, cost, chunk, *switches, pool) for pool in pools]

    def _option(
        self, declared: a.Stage, options: dict[str, a.StepOption], name: str, place: scopes.Place, need: c.Need
    ) -> e.Expr:
        option = options.get(name)
        if option is None or option.value is None:
            return e.Builtin("now")
        expr = self.resolver.expr(option.value, place)
        return c.check_if_constant(self.resolver, expr, f"the {name} of `{declared.name}`", need)
