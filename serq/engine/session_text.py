"""The session's code as restricted Python: one function that runs a session until it has to wait.

The code is cut where several ways meet and where a session waits; each piece is a branch of one loop, and going on
elsewhere is setting `at`.
"""

from dataclasses import replace

from serq.engine.ahead import NOTHING, START, draws_ahead
from serq.engine.asked import reads_estimates
from serq.engine.assigned import Assigned
from serq.engine.clocks import join_shared, region_of, source_of
from serq.engine.coming_text import ComingText
from serq.engine.cuts import cuts_of, plans_ahead
from serq.engine.expressions import Expressions, Surroundings
from serq.engine.growth_text import GrowthText
from serq.engine.sites import Site
from serq.engine.step_text import step_stages
from serq.engine.streams import arrives_lightly, is_test, place_of, streams_of
from serq.engine.trace_memory import columns_of
from serq.ir import program as p


class SessionText:
    """Writes the blocks of the workload and the code of the session through one writer of expressions."""

    def __init__(
        self, expressions: Expressions, keep_samples: bool, sources: tuple[int, ...], growth: GrowthText,
        set_before: Assigned,
    ) -> None:  # fmt: skip
        self.program = expressions.program
        self.sources = sources
        self.streams = streams_of(self.program)
        self.holds = growth.holds
        self.growth = growth
        self.expressions = expressions
        self.lines = expressions.lines
        self.keep_samples = keep_samples
        self.lightly = arrives_lightly(self.program)
        self._set = set_before
        self._learns = reads_estimates(self.program)
        self._pieces = cuts_of(self.program)
        self._ahead = draws_ahead(self.program, expressions.is_law)
        self.coming = ComingText(expressions, self.streams, self._ahead.get(START, NOTHING))

    def _stream(self, purpose: str, slot: str = "slot") -> str:
        """Where the words of a session's stream lie."""
        return place_of(self.streams, purpose, slot)

    def places(self) -> tuple[int, ...]:
        """By the number that is kept as a session's `pc`, the instruction at which it rests."""
        return tuple(max(pc - 1, 0) for pc in self._pieces)

    # -- the workload ------------------------------------------------------------------------------------------------

    def arrive(self) -> None:
        """A function in which a session arrives."""
        with self.lines.block("def arrive(s: Sim) -> i64:"):
            if self.holds.ghosts:
                self.lines.add("if s.free < 0:", "    s.pools.short = 1", "    return MORE")
            self.lines.add("slot = take_slot(s)")
            if self.program.pools:
                self.lines.add("enter(s, slot)")
            if self.program.trace is not None:
                self.lines.add("s.trace.which[slot] = -1")
            if plans_ahead(self.program):
                self.lines.add("s.steps.lately[slot] = 0")
            self.coming.take()
            if not self.lightly:
                self._arrived()
            self.expressions.here = Surroundings("slot", self._stream("workload"))
            self._block(self.program.init)
            self.lines.add(*(["make_ready(s, slot)"] if not self.lightly else []), "return MORE")
        self.lines.add("")
        if self.lightly:
            with self.lines.block("def settle_arrival(s: Sim) -> None:"):
                self._arrived()
                self.lines.add("s.gap = exponential(s.arrival) / s.rate")
            self.lines.add("")

    def _arrived(self) -> None:
        self.lines.add("note_arrived(s)")
        self.coming.prepare_next()

    def _block(self, block: tuple[p.Set | p.Observe, ...]) -> None:
        for statement in block:
            self._statement(statement)

    def _statement(self, statement: p.Set | p.Observe) -> None:
        if isinstance(statement, p.Set):
            self._store(statement.name, self.expressions.value(statement.expr))
            return
        value = self.expressions.value(statement.expr)
        name = self.program.observes.index(statement.name)
        if self.keep_samples:
            self.lines.add(f"observe_log(s, {name}, {value}, s.serial[slot], s.turn[slot])")
        else:
            self.lines.add(f"observe_sketch(s, {name}, {value})")

    def _store(self, name: str, value: str) -> None:
        place = self.expressions.attributes[name]
        self.lines.add(f"s.attrs[{self.expressions.item(place)}] = {value}")
        here = self.expressions.here
        if name in self.expressions.checked and name not in here.set_here:
            self.lines.add(f"s.flags[slot] |= {self.expressions.mark(name)}")
        self.expressions.here = replace(here, set_here=here.set_here | {name})

    # -- the code ----------------------------------------------------------------------------------------------------

    def advance(self) -> None:
        """The function that runs a session on."""
        with self.lines.block("def advance(s: Sim, slot: i64) -> i64:"):
            self.lines.add("left = s.left", "at = s.pc[slot]")
            with self.lines.block("while True:"):
                last = len(self._pieces) - 1
                for number, pc in enumerate(self._pieces):
                    word = "if" if number == 0 else "elif"
                    head = f"{word} at == {number}:" if number < last else "else:"
                    with self.lines.block(head if last else "if at == 0:"):
                        self._piece(pc)
                if not last:
                    self.lines.add("return MORE")
        self.lines.add("")

    def _piece(self, start: int) -> None:
        """From a place up to where it goes on elsewhere."""
        pc, first = start, True
        self.expressions.here = Surroundings("slot", self._stream("session"), self._set.before[start])
        while first or pc not in self._pieces:
            first = False
            self._count(pc)
            self.expressions.here = replace(self.expressions.here, ahead=self._ahead.get(pc, NOTHING))
            match self.program.code[pc]:
                case p.Branch() as branch:
                    following = self._branch(branch, pc)
                    if following is None:
                        return
                    pc = following
                case p.Jump(target=target):
                    pc = target
                case p.Run() as run:
                    self._run(run, pc)
                    return
                case p.Hold():
                    self._hold(pc)
                    return
                case p.End():
                    self._end(pc)
                    return
                case instruction:
                    self._simple(instruction, pc)
                    pc += 1
        self._go(pc)

    def _go(self, pc: int) -> None:
        self.lines.add(f"at = {self._pieces.index(pc)}")

    def _count(self, pc: int) -> None:
        """One command more at this instant."""
        site = self.expressions.sites.number(Site("commands", self.program.code[pc].span))
        self.lines.add("left -= 1")
        with self.lines.block("if left < 0:"):
            self.lines.add(f"return fail(s, {site}, s.serial[slot], 0)")

    def _simple(self, instruction: p.Instruction, pc: int) -> None:
        match instruction:
            case p.Set() | p.Observe():
                self._statement(instruction)
            case p.Choose():
                self._choose(instruction)
            case p.Turn():
                self.lines.add("s.turn[slot] += 1", "s.turns += 1")
                self._recorded_turn()
                if self.holds.replays:
                    lengths = [self._recorded(name) for name in ("new", "out")]
                    self.lines.add(f"open_request(s, slot, {', '.join(lengths)})")
                before = self.expressions.here
                self.expressions.here = replace(before, stream=self._stream("workload"))
                self._block(self.program.turn)
                self.expressions.here = replace(before, set_here=self.expressions.here.set_here)
            case p.Release(hold=hold):
                self._linger(pc)
                self.lines.add(f"status = close_{self.holds.by_pc[hold].number}(s, slot)")
                self.lines.add("if status != MORE:", "    return status", "s.steps.barren = 0")
            case p.Grow():
                self._grow(instruction, pc)
            case p.Drop(pool=ref):
                self.lines.add(f"drop(s, {self.expressions.place(ref)}, slot)")
            case _:
                raise AssertionError(instruction)

    def _linger(self, pc: int, test: str = "") -> None:
        """What the session gives back is free once a stage that plans ahead has planned: then it is here again."""
        if plans_ahead(self.program):
            stages = len(step_stages(self.program))
            with self.lines.block(f"if {test}lingers(s, slot, {stages}):"):
                self.lines.add("s.left = left", f"s.pc[slot] = {self._pieces.index(pc)}", "return MORE")

    def _recorded_turn(self) -> None:
        """The attributes that the trace sets."""
        columns = columns_of(self.program)
        if not columns:
            return
        which, row = self.lines.name(), self.lines.name()
        self.lines.add(f"{which} = replayed(s.trace, slot, s.serial[slot])")
        self.lines.add(f"{row} = row_of_turn(s.trace, {which}, s.turn[slot])")
        for place, name in enumerate(columns):
            self._store(name, f"s.trace.cells[{row} + {place}]")
        self._store("more", f"1.0 if goes_on(s.trace, {which}, s.turn[slot]) else 0.0")

    def _recorded(self, name: str) -> str:
        """What the trace says of a request, if there is one."""
        if self.program.trace is None and name not in self.holds.lengths:
            return "NAN"
        value = f"s.attrs[{self.expressions.item(self.expressions.attributes[name])}]"
        if self.program.trace is not None or name in self.expressions.here.set_here:
            return value
        return f"{value} if s.flags[slot] & {self.expressions.mark(name)} != 0 else NAN"

    def _hold(self, pc: int) -> None:
        """The session waits for its pools, and goes on behind the statement."""
        self.lines.add("s.left = left", f"s.pc[slot] = {self._pieces.index(pc + 1)}")
        self.lines.add(f"return claim_{self.holds.by_pc[pc].number}(s, slot)")

    def _grow(self, grow: p.Grow, pc: int) -> None:
        """A hold of the session grows: it goes on at once, or rests."""
        lines, expressions = self.lines, self.expressions
        place = expressions.place(grow.pool)
        part = self.growth.innermost(pc, grow.pool, place, grow.span)
        more = expressions.kept(grow.units)
        site = expressions.sites.number(Site("units", grow.units.span, "growth"))
        lines.add(f"if {more} != {more}:", f"    return fail(s, {site}, s.serial[slot], {place})")
        site = expressions.sites.number(Site("never fits", grow.span))
        lines.add("s.left = left", f"s.pc[slot] = {self._pieces.index(pc + 1)}")
        lines.add(f"status = grow_{self.holds.group(grow.pool).base}(s, slot, {place}, {part}, {more}, {site})")
        lines.add("if status != MORE:", "    return MORE if status == BLOCKED else status")

    def _end(self, pc: int) -> None:
        site = self.expressions.sites.number(Site("replacement", self.program.code[pc].span))
        self._linger(pc, "s.pools.open[slot] >= 0 and ")
        self.lines.add("s.left = left")
        if self.program.pools:
            self.lines.add(f"return end_session(s, slot, {site})")
            return
        self.lines.add(*(["close_request(s, slot)"] if self.holds.replays else []), "give_slot(s, slot)")
        if isinstance(self.program.arrivals, p.Closed):
            with self.lines.block("if one_more_ended(s):"):
                self.lines.add(f"return fail(s, {site}, -1, s.ended_now)")
            self.lines.add("return arrive(s)")
        else:
            self.lines.add("return MORE")

    # -- ways --------------------------------------------------------------------------------------------------------

    def _branch(self, branch: p.Branch, pc: int) -> int | None:
        """Both ways; None, or where it goes on when there is only one."""
        if branch.event:
            self.lines.add("s.passages += 1")
            self._ways("s.passages != s.changed", pc + 1, branch.otherwise)
            return None
        chance = self.expressions.constant(branch.probability)
        if chance in (0.0, 1.0):
            return pc + 1 if chance == 1.0 else branch.otherwise
        plain = is_test(branch.probability)
        test = self.expressions.test(branch.probability) if plain else self._chance(branch)
        self._ways(test, pc + 1, branch.otherwise)
        return None

    def _ways(self, test: str, then: int, otherwise: int) -> None:
        before = self.expressions.here
        for head, pc in ((f"if {test}:", then), ("else:", otherwise)):
            with self.lines.block(head):
                self.expressions.here = before
                if pc in self._pieces:
                    self._go(pc)
                else:
                    self._piece(pc)
        self.expressions.here = before

    def _chance(self, branch: p.Branch) -> str:
        chance = self.expressions.kept(branch.probability)
        site = self.expressions.sites.number(Site("probability", branch.probability.span))
        name = self.lines.name()
        self.lines.add(f"{name} = {chance} == 1.0")
        with self.lines.block(f"if {chance} != 1.0 and {chance} != 0.0:"):
            with self.lines.block(f"if not (0.0 < {chance} < 1.0):"):
                self.lines.add(f"return fail_with(s, {site}, s.serial[slot], 0, {chance})")
            self.lines.add(f"{name} = u01(s.words, {self._stream('session')}) < {chance}")
        return name

    def _run(self, run: p.Run, pc: int) -> None:
        """The session's job joins the stage, unless there is nothing to do."""
        place = self.expressions.place(run.stage)
        work = self.expressions.kept(run.work)
        site = self.expressions.sites.number(Site("work", run.work.span))
        after = self._pieces.index(pc + 1)
        if not self.expressions.is_work(run.work):
            with self.lines.block(f"if not (0.0 <= {work} < INF):"):
                self.lines.add(f"return fail_with(s, {site}, s.serial[slot], {place}, {work})")
        with self.lines.block(f"if {work} > 0.0:"):
            self.lines.add("s.left = left", f"s.pc[slot] = {after}")
            if self._learns:
                self.lines.add(f"learn_joined(s, {place})")
            match self.program.stages[run.stage.base].kind:
                case p.Fifo(servers=servers) if p.whole(servers) == 1:
                    self.lines.add(
                        f"join_single(s, {place}, {source_of(self.program, run.stage, place)}, slot, {work})"
                    )
                    self.lines.add("return MORE")
                case p.Fifo(servers=servers):
                    self.lines.add(f"join_many(s, {place}, {p.whole(servers)}, slot, {work})", "return MORE")
                case p.Delay():
                    self.lines.add(f"join_delay(s, {place}, slot, {work})", "return MORE")
                case p.Step():
                    self._join_step(run, pc, place, work)
                case _:
                    region = region_of(self.program, run.stage, place)
                    self.lines.add(*join_shared(run.stage.base, place, region, work))
        self.lines.add(f"at = {after}")

    def _join_step(self, run: p.Run, pc: int, place: str, work: str) -> None:
        """The session becomes a resident, with what grows along."""
        phase = "PREFILL" if run.phase == "prefill" else "DECODE"
        if not self.program.pools:
            self.lines.add(f"join_step(s, {place}, slot, {work}, {phase}, 0)", "return MORE")
            return
        self.lines.add("s.steps.part[slot] = -1")
        if run.growing is not None:
            pool = self.expressions.place(run.growing)
            part = self.growth.innermost(pc, run.growing, pool, run.growing.span)
            site = self.expressions.sites.number(Site("never fits", run.growing.span))
            at = self.growth.item(part)
            self.lines.add(f"begin_growing(s, slot, {at}, {part}, {pool}, {site})")
        kind = self.program.stages[run.stage.base].kind
        assert isinstance(kind, p.Step)
        if kind.memory is not None:
            memory = f"s.steps.memory[s.steps.number_of[{place}]]"
            self.lines.add(f"s.steps.held[slot] = held(s, slot, {memory}, 0.0)")
        elif self.holds.memory:  # what it held at another stage
            self.lines.add("s.steps.held[slot] = 0.0")
        self.lines.add(f"join_step(s, {place}, slot, {work}, {phase}, s.pools.admitted[slot])", "return MORE")

    def _choose(self, choose: p.Choose) -> None:
        """The candidates one after the other; the first of the best is kept."""
        lines, expressions = self.lines, self.expressions
        count = expressions.kept(choose.count)
        site = expressions.sites.number(Site("count", choose.count.span))
        with lines.block(f"if not (1.0 <= {count} < INF and {count} == floor({count})):"):
            lines.add(f"return fail_with(s, {site}, s.serial[slot], 0, {count})")
        best, kept = lines.name(), [lines.name() for _ in choose.keys]
        lines.add(f"{best} = -1", *(f"{k} = 0.0" for k in kept))
        candidate = lines.name()
        place = expressions.attributes[choose.name]
        before = expressions.here
        with lines.block(f"for {candidate} in range(int({count})):"):
            self._store(choose.name, f"float({candidate})")
            keys = [self._fresh(expressions.value(key)) for key in choose.keys]
            lines.add(f"if {best} < 0 or {_less(keys, kept)}:", f"    {best} = {candidate}")
            lines.add(*(f"    {k} = {key}" for k, key in zip(kept, keys, strict=True)))
        lines.add(f"s.attrs[{expressions.item(place)}] = float({best})")
        expressions.here = replace(before, set_here=before.set_here | {choose.name})

    def _fresh(self, text: str) -> str:
        name = self.lines.name()
        self.lines.add(f"{name} = {text}")
        return name


def _less(keys: list[str], kept: list[str]) -> str:
    """Whether one tuple of keys is before another."""
    out = "False"
    for key, old in reversed(list(zip(keys, kept, strict=True))):
        out = f"{key} < {old}" if out == "False" else f"({key} < {old} if {key} != {old} else {out})"
    return out
