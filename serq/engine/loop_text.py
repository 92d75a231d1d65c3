"""The loop over the clocks of one program as restricted Python: who fires, and what happens at that instant."""

from serq.engine.asked import drifting, reads_estimates
from serq.engine.clocks import is_many
from serq.engine.coast_text import CoastText
from serq.engine.step_text import step_stages
from serq.engine.streams import arrives_lightly
from serq.ir import program as p


def closing_of(program: p.Program) -> str:
    """The function that ends the batches that are due."""
    return "close_due" if program.pools else "close_batches"


class LoopText:
    """Writes `fire`, `run`, `finish` and what they call."""

    def __init__(self, coast: CoastText, sources: tuple[int, ...], shared: tuple[int, ...], keep_samples: bool) -> None:
        self.program = coast.program
        self.lines = coast.lines
        self.holds = coast.holds
        self.coast = coast
        self.sources = sources
        self.shared = shared
        self.steps = step_stages(self.program)
        self.keep_samples = keep_samples
        self.learns = reads_estimates(self.program)

    def fire(self) -> None:
        """The clock of a source, or the first one of the heap, fires."""
        lines = self.lines
        with lines.block("def fire(s: Sim, k: i64) -> i64:"):
            number = 0
            while number < len(self.sources):
                number = self._fire_source(number)
            self._fire_pending()
        lines.add("")

    def _fire_source(self, number: int) -> int:
        """What the clock of a source does; single servers that follow each other are told together. The next source."""
        lines, place = self.lines, self.sources[number]
        if place < 0 or place in self.shared:
            lines.add(f"if k == {number}:", f"    return {'arrival(s)' if place < 0 else f'done_{place}(s)'}")
            return number + 1
        if place in self.steps:
            with lines.block(f"if k == {number}:"):
                k = self.steps.index(place)
                lines.add(*([f"tell_ended(s, {k})"] if self.holds.tells else []))
                lines.add(f"clear_clock(s, {number})", f"end_iteration(s, {k})")
                lines.add("return next_ready(s)")
            return number + 1
        after, others = number + 1, (*self.shared, *self.steps)
        while after < len(self.sources) and self.sources[after] == place + after - number:
            if self.sources[after] in others:
                break
            after += 1
        if after == number + 1:
            lines.add(f"if k == {number}:", f"    return leave_single(s, {place}, {number})")
        else:
            lines.add(f"if k < {after}:", f"    return leave_single(s, k + {place - number}, k)")
        return after

    def _fire_pending(self) -> None:
        """The first clock of the heap: of a delay, or of one of several servers."""
        lines, stages = self.lines, self.program.stages
        pending = [i for i, stage in enumerate(stages) if isinstance(stage.kind, p.Delay)]
        many = {i: p.whole(s.kind.servers) for i, s in enumerate(stages) if is_many(s.kind)}
        if not pending and not many:
            lines.add("return NOBODY")
            return
        lines.add("slot = foremost(s, 0)", "take(s, 0)")
        place = "s.place[slot]"
        if len(pending) + len(many) == 1:
            place = str((pending + list(many))[0])
        if many and pending:
            lines.add(f"stage = {place}", "if s.servers[stage] == 0:", "    return leave_delay(s, stage, slot)")
            place = "stage"
        servers = set(many.values())
        if not many:
            lines.add(f"return leave_delay(s, {place}, slot)")
        elif len(servers) == 1:
            lines.add(f"return leave_many(s, {place}, {servers.pop()}, slot)")
        else:
            lines.add(f"member = {place}", "return leave_many(s, member, s.servers[member], slot)")

    def closing(self) -> None:
        """Batches end, and with them the sums of the pools."""
        lines = self.lines
        lines.add("@cold")
        with lines.block("def close_due(s: Sim, now: f64) -> None:"):
            lines.add("while now >= s.next_end and s.closed < s.last_end:", "    close_pools(s)", "    close_batch(s)")
        lines.add("")

    def run(self) -> None:
        """The loop over events; a call begins with what the beginning of the run has left to do.

        A call may end where the state has settled. What is left waiting there waits for the next clock, so that the
        next call goes on behind that: `s.settled` says so in programs in which something may wait.
        """
        lines = self.lines
        with lines.block("def run(s: Sim, most: i64) -> i64:"):
            lines.add("slot = next_ready(s)", "done = 0")
            lightly = arrives_lightly(self.program)
            lines.add(*(["k = NOBODY"] if lightly else []))
            with lines.block("while True:"):
                self._settle_once()
                lines.add(*(["if k == 0:", "    settle_arrival(s)"] if lightly else []))
                self._rest()
                self._next()
                self._pass_time()
                lines.add(*(["s.settled = 0"] if self._may_wait() else []))
                lines.add("s.events += 1", "slot = fire(s, k)", "if slot == FAILED:", "    return FAULT")
                if self.learns:
                    arriving = "k != 0" if -1 in self.sources else "True"
                    lines.add(f"if {arriving}:", "    learn_done(s, slot)")
                if self.holds.spills:
                    with lines.block("if slot >= 0 and s.pools.status[slot] == CARRIER:"):
                        lines.add("status = land(s, slot)", "if status != MORE:", "    return status", "slot = NOBODY")
        lines.add("", "")
        with lines.block("def finish(s: Sim) -> None:"):
            if self.program.pools:
                lines.add("while s.closed <= s.last_end:", "    close_pools(s)", "    close_batch(s)")
            else:
                lines.add("close_all(s)")

    def _next(self) -> None:
        """Find the next event; stages that may coast up to it do so first."""
        lines = self.lines
        if not self.coast.families:
            lines.add("if done == most:", "    return MORE", "done += 1")
            self._room()
            self._earliest()
            return
        with lines.block("while True:"):
            lines.add("if done == most:", "    return MORE")
            self._room()
            self._earliest()
            self.coast.after_earliest()
            lines.add("done += 1", "break")

    def _pass_time(self) -> None:
        """It is the time of the next event; the batches that end before it are closed."""
        lines, close = self.lines, closing_of(self.program)
        over = "if time > s.horizon:", "    return RESTED if order == NEVER else DONE"
        moving = ["s.now = time", "s.left = s.commands"]
        if isinstance(self.program.arrivals, p.Closed):
            moving.append("s.ended_now = 0")
        if drifting(self.program):
            lines.add(*over)
            with lines.block("if time != s.now:"):
                lines.add(*moving, "status = reach_gauges(s)", "if status != MORE:", "    return status")
            lines.add("if time >= s.next_end:", f"    {close}(s, time)")
            return
        with lines.block("if time >= s.next_end:"):  # the last end is the horizon
            lines.add(*over, f"{close}(s, time)")
        with lines.block("if time > s.now:"):
            lines.add(*moving)

    def _room(self) -> None:
        """An event begins only where there is room for what it may need."""
        lines = self.lines
        if self.holds.replays:
            lines.add("if s.requests.size + s.requests.reserve > s.requests.room:", "    return DRAIN")
        if self.holds.tells:
            lines.add("if s.requests.written + s.requests.spare > s.requests.space:", "    return DRAIN")
        if isinstance(self.program.arrivals, p.FromTrace):
            lines.add("if not has_room(s):", "    return GROW")
        elif -1 in self.sources and not self.holds.ghosts:
            lines.add("if s.free < 0:", "    return GROW")
        if self.holds.ghosts:
            lines.add("if s.cap - s.live - s.pools.gone < s.pools.reserve:", "    return GROW")
        if self.holds.caching:
            lines.add("if s.pools.vacant < s.pools.reserve or s.pools.short != 0:", "    return GROW")
        if self.keep_samples:
            lines.add("if s.log_size + s.log_reserve > s.log_cap:", "    return DRAIN")

    def _may_wait(self) -> bool:
        """Whether anything may be left waiting for the next clock that would not wait if the state settled again."""
        return bool(self.program.pools or self.steps)

    def _settle_once(self) -> None:
        """Settle after an event, and not again where a call goes on after the one before it."""
        if not self._may_wait():
            self._settle()
            return
        with self.lines.block("if s.settled == 0:"):
            self._settle()
            self.lines.add("s.settled = 1")

    def _settle(self) -> None:
        """Run whoever is ready, then let the pools admit and the step stages start, until nothing more happens."""
        lines = self.lines
        if not self.steps:
            self._run_and_serve()
            return
        with lines.block("while True:"):
            self._run_and_serve()
            lines.add("status = start_steps(s)", "if status != MORE:", "    return status")
            rests = "(s.steps.moved == 0 or s.steps.started == 1)"
            landed = " and s.pools.landed < 0" if self.holds.spills else ""
            lines.add("slot = next_ready(s)", f"if slot < 0 and {rests}{landed}:", "    break")

    def _run_and_serve(self) -> None:
        """Whoever is ready runs; then the pools have their turn, and so on."""
        lines = self.lines
        if not self.program.pools:
            self._run_ready()
            return
        if not self.holds.steady:
            lines.add("s.pools.changed = 1")
        with lines.block("while slot >= 0 or s.pools.changed != 0:"):
            self._run_ready()
            if not self.holds.steady:
                lines.add("s.pools.changed = 1")
            with lines.block("if s.pools.changed != 0:"):
                lines.add("status = serve(s)", "if status != MORE:", "    return status", "slot = next_ready(s)")

    def _run_ready(self) -> None:
        with self.lines.block("while slot >= 0:"):
            self.lines.add("status = advance(s, slot)", "if status != MORE:", "    return status")
            self.lines.add("slot = next_ready(s)")

    def clocks(self) -> None:
        """What is there to ask of the clocks while nothing more happens at an instant."""
        lines = self.lines
        with lines.block("def rest_clocks(s: Sim) -> None:"):
            self._rest_clocks()
            lines.add("pass")
        with lines.block("def clock_now(s: Sim) -> bool:"):
            for number in range(len(self.sources)):
                lines.add(f"if s.clock_time[{number}] == s.now:", "    return True")
            lines.add("return s.first_time[0] == s.now")
        lines.add("")

    def _rest_clocks(self) -> None:
        """The clocks of shared stages are set in the order of declaration."""
        for place in self.shared:
            self.lines.add(f"if s.moved[{place}] == 1:", f"    rest_shared(s, {place}, {self.sources.index(place)})")

    def _rest(self) -> None:
        """Nothing more happens at this instant."""
        lines = self.lines
        self._rest_clocks()
        self._rest_pools()
        if self.program.gauges:
            lines.add("status = read_gauges(s)", "if status != MORE:", "    return status")

    def _rest_pools(self) -> None:
        """Pools that have changed are read."""
        for group in self.holds.groups:
            if group.size == 1:
                self.lines.add(f"if s.pools.touched[{group.base}] != 0:", f"    rest_pool(s, {group.base})")
                continue
            with self.lines.block(f"for pool in range({group.base}, {group.base + group.size}):"):
                self.lines.add("if s.pools.touched[pool] != 0:", "    rest_pool(s, pool)")

    def _uses_heap(self) -> bool:
        """Whether there are clocks beside those of the sources."""
        return any(isinstance(s.kind, p.Delay) or is_many(s.kind) for s in self.program.stages)

    def _earliest(self) -> None:
        """The clock that fires next: `time`, `order`, and `k`, which is the number of sources for the heap.

        Where stages coast, `bound` is the time of the one after it.
        """
        lines, sources = self.lines, len(self.sources)
        bounds = bool(self.coast.families)
        if bounds:
            lines.add("bound = INF")
        if sources == 0:
            lines.add("time = INF", "order = NEVER", "k = 0")
        for number in range(sources):
            if number == 0:
                lines.add("time = s.clock_time[0]", "order = s.clock_order[0]", "k = 0")
                continue
            lines.add(f"t{number} = s.clock_time[{number}]")
            with lines.block(f"if t{number} <= time:"):
                lines.add(f"o{number} = s.clock_order[{number}]")
                with lines.block(f"if t{number} < time or o{number} < order:"):
                    lines.add(*(["bound = time"] if bounds else []))
                    lines.add(f"time = t{number}", f"order = o{number}", f"k = {number}")
                lines.add(*(["else:", "    bound = time"] if bounds else []))
            if bounds:
                lines.add(f"elif t{number} < bound:", f"    bound = t{number}")
        if not self._uses_heap():
            return
        lines.add("first = s.first_time[0]")
        with lines.block("if first <= time:"):
            lines.add("before = s.first_order[0]")
            with lines.block("if first < time or before < order:"):
                lines.add("time = first", "order = before", f"k = {sources}")
        if bounds:
            lines.add("bound = min(bound, first)")
