"""From a linked program to the text of its simulator.

The text imports what is the same for all programs and adds what this one does: its expressions, its session's code, the
loop over its own clocks.
"""

from dataclasses import dataclass
from typing import TypeGuard

from serq.engine.expressions import Expressions, Surroundings, literal
from serq.engine.lines import Lines
from serq.engine.session_text import SessionText
from serq.engine.sites import Site, Sites
from serq.engine.step_text import StepText, step_stages
from serq.ir import program as p

MOST_ZERO_GAPS = 10_000
"""So many gaps of 0 in a row are no burst but a stream that lets no time pass."""

_HEAD = """\
from serq.codegen.draws import draw_bernoulli, draw_erlang, draw_exp, draw_geometric, draw_h2, draw_uniform
from serq.codegen.lang import cold, f64, fabs, floor, i64
from serq.codegen.streams import exponential, u01
from serq.engine.arithmetic import is_finite, larger, modulo, over, root, smaller, whole_above, whole_below
from serq.engine.heap import close_hole
from serq.engine.iterations import (
    attention_in_batch, begin_plan, decoding_in_batch, end_iteration, give, next_resident, no_less, offered,
    prefill_in_batch, rest_of_budget, tokens_in_batch,
)
from serq.engine.laws import good_bernoulli, good_det, good_erlang, good_exp, good_geometric, good_h2, good_uniform
from serq.engine.observing import close_all, close_batches, observe_log, observe_sketch, read_gauge
from serq.engine.replaying import goes_on, replayed, row_of_turn
from serq.engine.residents import busy_step, count_decoding, join_step, queue_step, work_step
from serq.engine.serving import (
    clear_clock, empty_shared, join_delay, join_many, join_shared, join_single, leave_delay, leave_many, leave_shared,
    leave_single, make_ready, next_ready, note_left, rest_shared, set_clock,
)
from serq.engine.sessions import begin_stream, give_slot, take_slot
from serq.engine.state import (
    DONE, DRAIN, FAILED, FAULT, GROW, INF, MORE, NAN, NEVER, NOBODY, RESTED, Sim, fail, fail_with,
)
from serq.engine.step_state import DECODE, PREFILL

"""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The text of a simulator, its sites, and which stage or stream has which clock.

    `sources[i]` is the stage whose clock is number i, or -1 for the arrivals. `shared` are the stages in regions 1, 2,
    ... of the heap. `words` is how many words of streams a session has.
    """

    text: str
    sites: tuple[Site, ...]
    sources: tuple[int, ...]
    shared: tuple[int, ...]
    words: int


def lower(program: p.Program, keep_samples: bool) -> Lowered:
    """The text for a program that `serq.engine.supported.why_not` has nothing against."""
    lines, sites = Lines(), Sites()
    expressions = Expressions(program, lines, sites)
    sources = _sources(program)
    session = SessionText(expressions, keep_samples, sources)
    shared = tuple(i for i, s in enumerate(program.stages) if isinstance(s.kind, p.ProcessorSharing))
    steps = StepText(expressions, sources)
    writer = _Writer(program, expressions, sources, shared, keep_samples)
    writer.speeds()
    if steps.places:
        writer.clocks()
        steps.limits()
    session.arrive()
    session.advance()
    if steps.places:
        steps.iterations()
    writer.arrivals()
    writer.gauges()
    writer.begin()
    writer.fire()
    writer.run()
    return Lowered(_HEAD + lines.text(), tuple(sites.all), sources, shared, 4 * len(session.streams))


def _sources(program: p.Program) -> tuple[int, ...]:
    """Whose clocks are single: the arrivals', those of shared stages and of stages with one server."""
    arrivals = (-1,) if isinstance(program.arrivals, p.Poisson | p.Renewal | p.FromTrace) else ()
    return arrivals + tuple(i for i, stage in enumerate(program.stages) if _is_single(stage.kind))


def _is_single(kind: p.StageKind) -> bool:
    return isinstance(kind, p.ProcessorSharing | p.Step) or (isinstance(kind, p.Fifo) and p.whole(kind.servers) == 1)


def _is_many(kind: p.StageKind) -> TypeGuard[p.Fifo]:
    return isinstance(kind, p.Fifo) and p.whole(kind.servers) > 1


class _Writer:
    """What surrounds the session's code."""

    def __init__(
        self, program: p.Program, expressions: Expressions, sources: tuple[int, ...], shared: tuple[int, ...],
        keep_samples: bool,
    ) -> None:  # fmt: skip
        self.program = program
        self.expressions = expressions
        self.lines = expressions.lines
        self.sites = expressions.sites
        self.sources = sources
        self.shared = shared
        self.steps = step_stages(program)
        self.keep_samples = keep_samples

    def speeds(self) -> None:
        """For each shared stage how fast its jobs are served when there are n."""
        for place in self.shared:
            kind = self.program.stages[place].kind
            assert isinstance(kind, p.ProcessorSharing)
            site = self.sites.number(Site("capacity", kind.rate.span))
            with self.lines.block(f"def speed_{place}(s: Sim, stage: i64, n: i64) -> i64:"):
                self.lines.add("if n == 0:", "    empty_shared(s, stage)", "    return MORE")
                self.expressions.here = Surroundings(context={"n": "float(n)"})
                rate = self.expressions.kept(kind.rate)
                with self.lines.block(f"if not (0.0 <= {rate} < INF):"):
                    self.lines.add("s.fault_values[1] = float(n)")
                    self.lines.add(f"return fail_with(s, {site}, -1, stage, {rate})")
                self.lines.add(f"s.speed[stage] = {rate} / float(n)", "return MORE")
            with self.lines.block(f"def done_{place}(s: Sim) -> i64:"):
                self.lines.add(f"slot = leave_shared(s, {place})")
                region = self.shared.index(place) + 1
                self.lines.add(f"status = speed_{place}(s, {place}, s.heap_size[{region}])")
                self.lines.add(f"note_left(s, {place}, slot, s.joined[slot])")
                self.lines.add("return slot if status == MORE else FAILED")
            self.lines.add("")

    # -- arrivals ----------------------------------------------------------------------------------------------------

    def arrivals(self) -> None:
        """What the clock of the arrivals does: it is set again, then a session arrives or is lost."""
        arrivals = self.program.arrivals
        if isinstance(arrivals, p.FromTrace):
            self._recorded_arrivals()
        if not isinstance(arrivals, p.Poisson | p.Renewal):
            return
        with self.lines.block("def next_gap(s: Sim) -> i64:"):
            if isinstance(arrivals, p.Poisson):
                rate = literal(arrivals.rate.value)
                self.lines.add(f"set_clock(s, 0, s.now + exponential(s.arrival) / {rate})", "return MORE")
            else:
                self._gap(arrivals)
        self.lines.add("")
        with self.lines.block("def arrival(s: Sim) -> i64:"):
            self.lines.add("if next_gap(s) != MORE:", "    return FAILED")
            if arrivals.limit is not None:
                with self.lines.block(f"if s.live >= {p.whole(arrivals.limit)}:"):
                    self.lines.add("s.lost += 1", "return NOBODY")
            self.lines.add("return next_ready(s) if arrive(s) == MORE else FAILED")
        self.lines.add("")

    def _recorded_arrivals(self) -> None:
        """The sessions of the trace that begin at one instant; the next instant's clock is set before they arrive."""
        lines = self.lines
        with lines.block("def set_next_start(s: Sim) -> None:"):
            with lines.block("if s.trace.next < s.trace.events:"):
                lines.add("set_clock(s, 0, s.trace.starts[s.trace.next])")
            with lines.block("else:"):
                lines.add("clear_clock(s, 0)")
        with lines.block("def arrive_together(s: Sim) -> i64:"):
            lines.add("count = s.trace.counts[s.trace.next]", "s.trace.next += 1", "set_next_start(s)")
            with lines.block("for _ in range(count):"):
                lines.add("if arrive(s) != MORE:", "    return FAULT")
            lines.add("return MORE")
        with lines.block("def arrival(s: Sim) -> i64:"):
            lines.add("return next_ready(s) if arrive_together(s) == MORE else FAILED")
        with lines.block("def has_room(s: Sim) -> bool:"):
            lines.add("wanted = s.trace.counts[s.trace.next] if s.trace.next < s.trace.events else 0", "slot = s.free")
            with lines.block("while wanted > 0 and slot >= 0:"):
                lines.add("wanted -= 1", "slot = s.follow[slot]")
            lines.add("return wanted <= 0")
        lines.add("")

    def _gap(self, arrivals: p.Renewal) -> None:
        self.expressions.here = Surroundings()
        gap = self.expressions.kept(arrivals.gap)
        site = self.sites.number(Site("gap", arrivals.gap.span))
        self.lines.add(f"s.zeros = s.zeros + 1 if {gap} == 0.0 else 0")
        with self.lines.block(f"if not (0.0 <= {gap} < INF and s.zeros < {MOST_ZERO_GAPS}):"):
            self.lines.add(f"return fail_with(s, {site}, -1, s.zeros, {gap})")
        self.lines.add(f"set_clock(s, 0, s.now + {gap})", "return MORE")

    # -- instants ----------------------------------------------------------------------------------------------------

    def gauges(self) -> None:
        """Read the gauges at rest."""
        with self.lines.block("def read_gauges(s: Sim) -> i64:"):
            self.expressions.here = Surroundings()
            values = [self.expressions.kept(gauge.expr) for gauge in self.program.gauges]
            self.lines.add(*(f"read_gauge(s, {i}, {value})" for i, value in enumerate(values)))
            self.lines.add("return MORE")
        self.lines.add("")

    def begin(self) -> None:
        """Time 0."""
        arrivals = self.program.arrivals
        with self.lines.block("def begin(s: Sim) -> i64:"):
            self.lines.add("if s.now >= s.next_end:", "    close_batches(s, s.now)")
            match arrivals:
                case p.Poisson():
                    self.lines.add("set_clock(s, 0, 0.0)")
                case p.Renewal():
                    self.lines.add("first = next_gap(s)", "if first != MORE:", "    return first")
                case p.FromTrace():
                    with self.lines.block("if s.trace.events > 0 and s.trace.starts[0] == 0.0:"):
                        self.lines.add("return arrive_together(s)")
                    self.lines.add("else:", "    set_next_start(s)")
                case p.Closed(population=size) | p.Batch(size=size):
                    with self.lines.block(f"for _ in range({p.whole(size)}):"):
                        self.lines.add("status = arrive(s)", "if status != MORE:", "    return status")
                case _:
                    pass
            self.lines.add("return MORE")
        self.lines.add("")

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
                lines.add(f"clear_clock(s, {number})", f"end_iteration(s, {self.steps.index(place)})")
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
        many = {i: p.whole(s.kind.servers) for i, s in enumerate(stages) if _is_many(s.kind)}
        if not pending and not many:
            lines.add("return NOBODY")
            return
        lines.add("s.hole = 1", "slot = s.heap_slot[0]")
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

    def run(self) -> None:
        """The loop over events; a call begins with what the beginning of the run has left to do."""
        lines = self.lines
        with lines.block("def run(s: Sim, most: i64) -> i64:"):
            lines.add("slot = next_ready(s)", "done = 0")
            with lines.block("while True:"):
                self._settle()
                self._rest()
                lines.add("if done == most:", "    return MORE", "done += 1")
                if isinstance(self.program.arrivals, p.FromTrace):
                    lines.add("if not has_room(s):", "    return GROW")
                elif -1 in self.sources:
                    lines.add("if s.free < 0:", "    return GROW")
                if self.keep_samples:
                    lines.add("if s.log_size + s.log_reserve > s.log_cap:", "    return DRAIN")
                self._earliest()
                with lines.block("if time >= s.next_end:"):  # the last end is the horizon
                    lines.add("if time > s.horizon:", "    return RESTED if order == NEVER else DONE")
                    lines.add("close_batches(s, time)")
                with lines.block("if time != s.now:"):
                    lines.add("s.now = time", "s.left = s.commands", "s.ended_now = 0")
                lines.add("s.events += 1", "slot = fire(s, k)", "if slot == FAILED:", "    return FAULT")
        lines.add("", "")
        with lines.block("def finish(s: Sim) -> None:"):
            lines.add("close_all(s)")

    def _settle(self) -> None:
        """Run whoever is ready, then let the step stages start, until nothing more happens."""
        lines = self.lines
        if not self.steps:
            self._run_ready()
            return
        with lines.block("while True:"):
            self._run_ready()
            lines.add("status = start_steps(s)", "if status != MORE:", "    return status")
            lines.add("slot = next_ready(s)", "if slot < 0:", "    break")

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
            lines.add("return s.heap_size[0] > 0 and s.heap_time[0] == s.now")
        lines.add("")

    def _rest_clocks(self) -> None:
        """The clocks of shared stages are set in the order of declaration."""
        if self._uses_heap():
            self.lines.add("if s.hole == 1:", "    close_hole(s)")
        for place in self.shared:
            self.lines.add(f"if s.moved[{place}] == 1:", f"    rest_shared(s, {place})")

    def _rest(self) -> None:
        """Nothing more happens at this instant."""
        lines = self.lines
        self._rest_clocks()
        if self.program.gauges:
            lines.add("status = read_gauges(s)", "if status != MORE:", "    return status")

    def _uses_heap(self) -> bool:
        """Whether there are clocks beside those of the sources."""
        return any(isinstance(s.kind, p.Delay) or _is_many(s.kind) for s in self.program.stages)

    def _earliest(self) -> None:
        """The clock that fires next: `time`, `order`, and `k`, which is the number of sources for the heap."""
        lines, sources = self.lines, len(self.sources)
        if sources == 0:
            lines.add("time = INF", "order = NEVER", "k = 0")
        for number in range(sources):
            if number == 0:
                lines.add("time = s.clock_time[0]", "order = s.clock_order[0]", "k = 0")
                continue
            lines.add(f"t{number} = s.clock_time[{number}]")
            with lines.block(f"if t{number} <= time:"):
                lines.add(f"o{number} = s.clock_order[{number}]")
                lines.add(f"if t{number} < time or o{number} < order:")
                lines.add(f"    time = t{number}", f"    order = o{number}", f"    k = {number}")
        if not self._uses_heap():
            return
        with lines.block("if s.heap_size[0] > 0:"):
            lines.add("first = s.heap_time[0]")
            with lines.block("if first <= time:"):
                lines.add("before = s.heap_order[0]")
                with lines.block("if first < time or before < order:"):
                    lines.add("time = first", "order = before", f"k = {sources}")
