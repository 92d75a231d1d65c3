"""The step stages of one program as restricted Python: budgets and costs, and the way through an iteration.

The walks over residents are functions of `serq.engine.iterations`; what stands here is in which order they are taken,
and what the program itself says: its expressions, and what growth and admission may call.
"""

from serq.engine.expressions import Expressions, Surroundings, literal
from serq.engine.holds import Holds
from serq.engine.sites import Site
from serq.ir import expr as e
from serq.ir import flow
from serq.ir import program as p

_BEFORE = {"nres": "float(s.steps.count[{k}])", "ndec": "count_decoding(s, {k})", "kvb": "held_by(s, {k}, DECODE)",
           "kvp": "held_by(s, {k}, PREFILL)"}  # fmt: skip
_COST = _BEFORE | {
    "ndec": "decoding_in_batch(s, {k})", "ntok": "tokens_in_batch(s, {k})", "npre": "prefill_in_batch(s, {k})",
    "attn": "attention_in_batch(s, {k})", "kvb": "held_in_batch(s, {k}, DECODE)",
    "kvp": "held_in_batch(s, {k}, PREFILL)",
}  # fmt: skip


def step_stages(program: p.Program) -> tuple[int, ...]:
    """The places of the step stages."""
    return tuple(place for place, stage in enumerate(program.stages) if isinstance(stage.kind, p.Step))


def counts_together(program: p.Program, place: int) -> bool:
    """Whether residents are served in the order of admission, so that they may be counted together.

    Where the stage admits, all of them must be in a hold: one that was never admitted stands behind those that are.
    """
    kind = program.stages[place].kind
    assert isinstance(kind, p.Step)
    if kind.decode_first or kind.exclusive_prefill:
        return False
    if all(pool.admit_via != place for pool in program.pools):
        return True
    around = flow.enclosing_holds(program)
    return all(
        around[pc]
        for pc, run in enumerate(program.code)
        if isinstance(run, p.Run) and run.stage.base <= place < run.stage.base + run.stage.size
    )


def limits_of(kind: p.Step) -> tuple[e.Expr, ...]:
    """The budget of a stage and, if there is one, the chunk."""
    return (kind.budget, *(() if kind.chunk is None else (kind.chunk,)))


def _left(depth: int) -> str:
    """The name of the function that works out what a budget leaves, asked so deep within limits."""
    return "step_left" if depth == 1 else f"step_left_{depth}"


class StepText:
    """Writes what the step stages of a program do through one writer of expressions."""

    def __init__(self, expressions: Expressions, sources: tuple[int, ...], holds: Holds) -> None:
        self.program = expressions.program
        self.expressions = expressions
        self.lines = expressions.lines
        self.sources = sources
        self.holds = holds
        self.places = step_stages(self.program)

    def kind(self, k: int) -> p.Step:
        """The step stage of a number as declared."""
        kind = self.program.stages[self.places[k]].kind
        assert isinstance(kind, p.Step)
        return kind

    # -- limits ------------------------------------------------------------------------------------------------------

    def limits(self) -> None:
        """Functions that work out budget and chunk, and what a budget leaves.

        Limits that read what a budget leaves find 0 at the stages whose limits are being worked out for it, however
        deep. The text knows no recursion: there is a function for each depth, until no stage is left that they read.
        """
        asked = self._asked_by_limits()
        for k in range(len(self.places)):
            self._limits(k, f"step_limits_{k}", "step_left", begins=bool(asked))
        if not asked:
            self._left("step_left", self.places, "")
            return
        deepest = len(asked) + (1 if asked == self.places else 2)
        for depth in range(1, deepest + 1):
            places = () if depth == deepest else self.places if depth == 1 else asked
            for k in map(self.places.index, places):
                self._limits(k, f"step_limits_{k}_{depth}", _left(depth + 1))
            self._left(_left(depth), places, f"_{depth}")

    def _asked_by_limits(self) -> tuple[int, ...]:
        """The stages of which limits may read what their budget leaves."""
        refs = [
            node.stage
            for k in range(len(self.places))
            for expr in limits_of(self.kind(k))
            for node in e.walk(expr)
            if isinstance(node, e.StageState) and node.fact == "budget_left"
        ]
        return tuple(place for place in self.places if any(r.base <= place < r.base + r.size for r in refs))

    def _limits(self, k: int, name: str, left: str, begins: bool = False) -> None:
        """Work out the limits of a stage; `left` is the function that they call for what a budget leaves.

        `begins`: for an iteration, of which the chunk finds the whole budget left.
        """
        lines, kind = self.lines, self.kind(k)
        with lines.block(f"def {name}(s: Sim) -> i64:"):
            self._surround(_BEFORE, k, *limits_of(kind))
            self.expressions.here.left = left
            budget = self._checked(kind.budget, "budget", k)
            if begins and kind.chunk is not None:
                lines.add(f"s.steps.left[{k}] = {budget}", f"s.steps.planning[{k}] = 1")
            chunk = "INF" if kind.chunk is None else f"no_less({self._checked(kind.chunk, 'chunk', k)})"
            lines.add(f"s.steps.budget = {budget}", f"s.steps.chunk = {chunk}", "return MORE")

    def _left(self, name: str, places: tuple[int, ...], depth: str) -> None:
        """What a budget leaves, to be worked out at these stages unless an iteration is put together there.

        `depth` ends the name of the functions that work out their limits; nothing where these never ask for it.
        """
        lines = self.lines
        with lines.block(f"def {name}(s: Sim, stage: i64) -> i64:"):
            for k in map(self.places.index, places):
                with lines.block(f"if stage == {self.places[k]} and s.steps.planning[{k}] == 0:"):
                    lines.add(*([f"s.steps.left[{k}] = 0.0", f"s.steps.planning[{k}] = 1"] if depth else []))
                    lines.add(f"if step_limits_{k}{depth}(s) != MORE:", "    return FAULT")
                    lines.add(*([f"s.steps.planning[{k}] = 0"] if depth else []))
                    lines.add(f"s.steps.value = rest_of_budget(s, {k}, s.steps.budget, s.steps.chunk)", "return MORE")
            lines.add("s.steps.value = max(s.steps.left[s.steps.number_of[stage]], 0.0)", "return MORE")
        lines.add("")

    def _surround(self, facts: dict[str, str], k: int, *exprs: e.Expr) -> None:
        """Work out the context variables that are read."""
        names = {node.name for expr in exprs for node in e.walk(expr) if isinstance(node, e.Context)}
        context: dict[str, str] = {}
        for name in sorted(names & facts.keys()):
            context[name] = self.lines.name()
            self.lines.add(f"{context[name]} = {facts[name].format(k=k)}")
        self.expressions.here = Surroundings(context=context)

    def _checked(self, expr: e.Expr, what: str, k: int) -> str:
        value = self.expressions.kept(expr)
        site = self.expressions.sites.number(Site("step", expr.span, what))
        bad = f"not (0.0 <= {value} < INF)" if what == "cost" else f"{value} != {value}"
        with self.lines.block(f"if {bad}:"):
            self.lines.add(f"return fail_with(s, {site}, -1, {self.places[k]}, {value})")
        return value

    # -- iterations --------------------------------------------------------------------------------------------------

    def iterations(self) -> None:
        """Functions that put an iteration together, one for each stage, and the one that tries all of them."""
        for k in range(len(self.places)):
            self._schedule(k)
            self._admit(k)
            self._plan(k)
        lines = self.lines
        with lines.block("def start_steps(s: Sim) -> i64:"):
            lines.add("s.steps.moved = 0", "s.steps.started = 0", "s.steps.idle = 0")
            for k, place in enumerate(self.places):
                waiting = [f" or s.pools.head[{pool}] >= 0" for pool in self._served(place)]
                with lines.block(f"if s.steps.running[{k}] == 0:"):
                    lines.add("rest_clocks(s)")
                    with lines.block("if not clock_now(s):"):
                        with lines.block(f"if s.steps.count[{k}] > 0{''.join(waiting)}:"):
                            lines.add(f"status = start_{k}(s)", "if status != MORE:", "    return status")
                            lines.add(f"s.steps.idle += 1 - s.steps.running[{k}]")
                        if self.kind(k).plan_ahead:
                            lines.add(f"let_go(s, {k})")
                    lines.add("else:", "    s.steps.idle += 1")
            lines.add("return MORE")
        lines.add("")

    def _served(self, place: int) -> list[int]:
        """The pools whose queues a stage serves."""
        via = [i for i, pool in enumerate(self.program.pools) if pool.admit_via == place]
        return [i for i in via if self.holds.waiting_at(self.holds.group(i))]

    def _grows(self) -> bool:
        return any(isinstance(x, p.Run) and x.growing is not None for x in self.program.code)

    def _schedule(self, k: int) -> None:
        """Give a resident its tokens, memory for them first."""
        lines = self.lines
        with lines.block(f"def schedule_{k}(s: Sim, slot: i64) -> i64:"):
            lines.add(f"tokens = offered(s, {k}, slot)")
            if self._grows():
                lines.add("status = enlarge_run(s, slot, tokens)", f"take_back(s, {k})")
                lines.add("if status != MORE:", "    return status")
            lines.add(f"give(s, {k}, slot, tokens)", "return MORE")
        lines.add("")

    def _admit(self, k: int) -> None:
        """Admit from the queues that the stage serves while budget is left; `before` counts preemptions."""
        lines = self.lines
        with lines.block(f"def admit_{k}(s: Sim, before: i64) -> i64:"):
            for pool in self._served(self.places[k]):
                with lines.block(f"while s.steps.left[{k}] > 0.0:"):
                    self._admit_head(k, pool)
            lines.add("return MORE")
        lines.add("")

    def _admit_head(self, k: int, pool: int) -> None:
        lines, group = self.lines, self.holds.group(pool)
        if group.pool.queue:
            lines.add(f"status = choose_head_{group.base}(s, {pool})", "if status != MORE:", "    return status")
        lines.add("slot = s.pools.index" if group.pool.queue else f"slot = s.pools.head[{pool}]")
        lines.add("if slot < 0:", "    break", f"status = attempt_at_{group.base}(s, slot)")
        lines.add("if status == BLOCKED:", "    break", "s.steps.moved = 1", "if status == REJECTED:", "    continue")
        lines.add("if status != ADMITTED:", "    return status")
        lines.add("status = advance(s, slot)", "if status != MORE:", "    return status", f"take_back(s, {k})")
        lines.add(f"if not is_resident(s, {k}, slot):", "    continue")
        if self.kind(k).exclusive_prefill:
            with lines.block("if s.steps.phase[slot] == PREFILL:"):
                lines.add(f"set_aside(s, {k})", f"status = schedule_{k}(s, slot)")
                lines.add("if status != MORE and status != BLOCKED:", "    return status")
                lines.add(f"bring_back(s, {k})", "return MORE")
        lines.add(f"status = schedule_{k}(s, slot)", "if status != MORE and status != BLOCKED:", "    return status")
        lines.add("if s.pools.preemptions != before:", "    return MORE")

    def _tell(self, k: int, kind: p.Step) -> None:
        """What is written of an iteration that begins."""
        via = [i for i, pool in enumerate(self.program.pools) if pool.admit_via == self.places[k]]
        waiting = " + ".join(f"s.pools.queued[{pool}]" for pool in via) or "0"
        free = "0.0"
        if kind.memory is not None:
            group = self.holds.group(kind.memory)
            free = f"({literal(group.cap)} - s.pools.used[{kind.memory}]) / {literal(group.block or 1.0)}"
        self.lines.add(f"tell_started(s, {k}, {waiting}, {free})")

    def _plan(self, k: int) -> None:
        lines, kind = self.lines, self.kind(k)
        with lines.block(f"def start_{k}(s: Sim) -> i64:"):
            lines.add(f"if step_limits_{k}(s) != MORE:", "    return FAULT")
            lines.add("before = s.pools.preemptions", f"begin_plan(s, {k})", f"slot = next_resident(s, {k})")
            with lines.block("while slot >= 0:"):
                lines.add(f"status = schedule_{k}(s, slot)")
                if self._grows():
                    with lines.block("if status == BLOCKED:"):
                        lines.add(f"if not is_resident(s, {k}, slot):", "    break")
                    lines.add("elif status != MORE:", "    return status")
                lines.add(f"slot = next_resident(s, {k})")
            if self._served(self.places[k]):
                alone = f" and prefill_in_batch(s, {k}) == 0.0" if kind.exclusive_prefill else ""
                with lines.block(f"if s.pools.preemptions == before{alone}:"):
                    lines.add(f"status = admit_{k}(s, before)", "if status != MORE:", "    return status")
            lines.add(f"s.steps.planning[{k}] = 0")
            with lines.block(
                f"if s.steps.size[{k}] + s.steps.steady_batch[{k}] == 0 and s.pools.preemptions == before:"
            ):
                lines.add("return MORE")
            self._surround(_COST, k, kind.cost)
            cost = self._checked(kind.cost, "cost", k)
            if self.holds.tells:
                self._tell(k, kind)
            lines.add(f"s.steps.running[{k}] = 1", "s.steps.started = 1")
            lines.add(f"set_clock(s, {self.sources.index(self.places[k])}, s.now + {cost})", "return MORE")
        lines.add("")
