"""From a linked program to the text of its simulator.

The text imports what is the same for all programs and adds what this one does: its expressions, its session's code, the
loop over its own clocks.
"""

from dataclasses import dataclass

from serq.engine.asked import drifting, reads_estimates, reads_work
from serq.engine.assigned import certainly_set
from serq.engine.clocks import sources_of
from serq.engine.coast_text import CoastText
from serq.engine.cuts import cuts_of
from serq.engine.expressions import Expressions, Surroundings
from serq.engine.growth_text import GrowthText
from serq.engine.holds import Holds
from serq.engine.lines import Lines
from serq.engine.loop_text import LoopText, closing_of
from serq.engine.pool_text import POOL_HEAD, PoolText
from serq.engine.preemption_text import PreemptionText
from serq.engine.session_text import SessionText
from serq.engine.sites import Site, Sites
from serq.engine.step_text import StepText
from serq.engine.streams import arrives_lightly, streams_of
from serq.engine.supported import expressions_of
from serq.ir import program as p

MOST_ZERO_GAPS = 10_000
"""So many gaps of 0 in a row are no burst but a stream that lets no time pass."""

_ONLINE = """\
from serq.engine.backlog import pending_work, work_many, work_shared, work_single
from serq.engine.online import est_lambda, est_rho, est_wait, learn_done, learn_joined, price
"""

_JOURNAL = """\
from serq.engine.journal import (
    evict_oldest_told, evict_told, tell_admitted, tell_ended, tell_preempted, tell_started,
)
"""

_HEAD = """\
from serq.codegen.blocks import begin_block, block_exp, block_h2
from serq.codegen.draws import draw_bernoulli, draw_erlang, draw_exp, draw_geometric, draw_h2, draw_uniform
from serq.codegen.elementary import exp, log
from serq.codegen.lang import cold, f64, fabs, floor, i64
from serq.codegen.powers import power
from serq.codegen.streams import exponential, u01
from serq.engine.arithmetic import is_finite, larger, modulo, over, root, smaller, whole_above, whole_below
from serq.engine.coasting import may_coast, note_coasted, rounds_alone
from serq.engine.coming import begin_alone, has_odd, take_words
from serq.engine.heap import foremost, take
from serq.engine.iterations import (
    attention_in_batch, begin_plan, bring_back, decoding_in_batch, end_iteration, give, held_in_batch, next_resident,
    no_less, offered, prefill_in_batch, rest_of_budget, set_aside, take_back, tokens_in_batch,
)
from serq.engine.laws import good_bernoulli, good_det, good_erlang, good_exp, good_geometric, good_h2, good_uniform
from serq.engine.observing import close_all, close_batches, observe_log, observe_sketch, reach_gauge, read_gauge
from serq.engine.replaying import goes_on, replayed, row_of_turn
from serq.engine.requests import close_request, get_memory, give_up, open_request, reach
from serq.engine.residents import (
    busy_step, count_decoding, is_resident, join_step, let_go, lingers, queue_step, stop_lingering, work_step,
)
from serq.engine.serving import (
    clear_clock, empty_shared, join_delay, join_many, join_shared, join_single, leave_delay, leave_many, leave_shared,
    leave_single, make_ready, next_ready, note_joined, note_left, rest_shared, set_clock,
)
from serq.engine.sessions import give_slot, note_arrived, one_more_ended, take_slot
from serq.engine.state import (
    DONE, DRAIN, FAILED, FAULT, GROW, INF, MORE, NAN, NEVER, NOBODY, RESTED, Sim, fail, fail_with,
)
from serq.engine.steady import due_after, has_memory, held_by, take_due, units_due
from serq.engine.step_state import DECODE, PREFILL
"""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The text of a simulator, its sites, and which stage or stream has which clock.

    `sources[i]` is the stage whose clock is number i, or -1 for the arrivals. `shared` are the stages in regions 1, 2,
    ... of the heap. `words` is how many words of streams a session has. `places[i]` is the instruction at which a
    session rests whose `pc` is i.
    """

    text: str
    sites: tuple[Site, ...]
    sources: tuple[int, ...]
    shared: tuple[int, ...]
    words: int
    holds: Holds
    places: tuple[int, ...]


def lower(program: p.Program, keep_samples: bool, holds: Holds | None = None) -> Lowered:
    """The text for a program that `serq.engine.supported.why_not` has nothing against.

    `holds` says what a replay writes down, and whether what can never fit waits; None: for an ordinary run.
    """
    lines, sites = Lines(), Sites()
    holds, set_before = holds or Holds(program), certainly_set(program)
    expressions = Expressions(program, lines, sites, set_before.doubtful | holds.lengths)
    sources = sources_of(program)
    pools, cuts = PoolText(expressions, holds, set_before), cuts_of(program)
    preemption = PreemptionText(expressions, holds, set_before, lambda pc: cuts.index(pc + 1))
    growth = GrowthText(expressions, holds, pools.room, preemption)
    session = SessionText(expressions, keep_samples, sources, growth, set_before)
    shared = tuple(i for i, s in enumerate(program.stages) if isinstance(s.kind, p.ProcessorSharing))
    steps = StepText(expressions, sources, holds)
    writer = _Writer(program, expressions, shared)
    coast = CoastText(expressions, sources, holds)
    loop = LoopText(coast, sources, shared, keep_samples)
    writer.speeds()
    if steps.places:
        loop.clocks()
        steps.limits()
    session.coming.prepare()
    session.arrive()
    if program.pools:
        pools.functions()
        growth.functions()
        loop.closing()
    session.advance()
    if steps.places:
        steps.iterations()
    writer.arrivals()
    writer.gauges()
    writer.begin()
    coast.functions()
    loop.fire()
    loop.run()
    asks = reads_estimates(program) or reads_work(*expressions_of(program))
    imports = _HEAD + (POOL_HEAD if program.pools else "") + (_ONLINE if asks else "")
    imports += _JOURNAL if holds.tells else ""
    text = imports + _rows(program, sources, shared) + "\n" + lines.text()
    return Lowered(text, tuple(sites.all), sources, shared, 4 * len(session.streams), holds, session.places())


def _rows(program: p.Program, sources: tuple[int, ...], shared: tuple[int, ...]) -> str:
    """How many rows of the state there are of what does not become more: they lie in the record itself."""
    numbers = {
        "CLOCK": len(sources), "REGION": len(shared) + 1, "STAGE": len(program.stages), "GAUGE": len(program.gauges),
        "OBSERVE": len(program.observes),
    }  # fmt: skip
    return "".join(f"SIM_{name}_ROWS = {max(number, 1)}\n" for name, number in numbers.items())


class _Writer:
    """What surrounds the session's code."""

    def __init__(self, program: p.Program, expressions: Expressions, shared: tuple[int, ...]) -> None:
        self.program = program
        self.expressions = expressions
        self.lines = expressions.lines
        self.sites = expressions.sites
        self.shared = shared

    def speeds(self) -> None:
        """For each shared stage how fast its jobs are served when there are n, and what happens when one is done."""
        for place in self.shared:
            kind = self.program.stages[place].kind
            assert isinstance(kind, p.ProcessorSharing)
            self._speed(place, kind)
            with self.lines.block(f"def done_{place}(s: Sim) -> i64:"):
                region = self.shared.index(place) + 1
                self.lines.add(f"slot = foremost(s, {region})", f"lead = leave_shared(s, {place}, {region})")
                self.lines.add(f"status = speed_{place}(s, {place}, s.number[{place}] - 1, lead)")
                self.lines.add(f"note_left(s, {place}, slot, s.joined[slot])")
                self.lines.add("return slot if status == MORE else FAILED")
            self.lines.add("")

    def _speed(self, place: int, kind: p.ProcessorSharing) -> None:
        """How fast the n jobs of a stage, or of another one of the same array, are served from now on, and when the
        first will be done: `lead` is what each must get until then.
        """
        source = f"stage + {sources_of(self.program).index(place) - place}"
        site = self.sites.number(Site("capacity", kind.rate.span))
        with self.lines.block(f"def speed_{place}(s: Sim, stage: i64, n: i64, lead: f64) -> i64:"):
            self.lines.add("if n == 0:", f"    empty_shared(s, stage, {source})", "    return MORE")
            self.expressions.here = Surroundings(context={"n": "float(n)"})
            rate = self.expressions.kept(kind.rate)
            with self.lines.block(f"if not (0.0 <= {rate} < INF):"):
                self.lines.add("s.fault_values[1] = float(n)")
                self.lines.add(f"return fail_with(s, {site}, -1, stage, {rate})")
            self.lines.add(f"s.speed[stage] = {rate} / float(n)")
            pace = f"(float(n) / {rate} if {rate} > 0.0 else INF)"
            self.lines.add(f"s.clock_time[{source}] = s.now + lead * {pace}", "return MORE")

    # -- arrivals ----------------------------------------------------------------------------------------------------

    def arrivals(self) -> None:
        """What the clock of the arrivals does: it is set again, then a session arrives or is lost."""
        arrivals = self.program.arrivals
        if isinstance(arrivals, p.FromTrace):
            self._recorded_arrivals()
        if not isinstance(arrivals, p.Poisson | p.Renewal):
            return
        lightly = arrives_lightly(self.program)
        with self.lines.block("def next_gap(s: Sim) -> i64:"):
            if isinstance(arrivals, p.Poisson):
                self.lines.add("set_clock(s, 0, s.now + s.gap)")
                self.lines.add(*([] if lightly else ["s.gap = exponential(s.arrival) / s.rate"]), "return MORE")
            else:
                self._gap(arrivals)
        self.lines.add("")
        with self.lines.block("def arrival(s: Sim) -> i64:"):
            self.lines.add("if next_gap(s) != MORE:", "    return FAILED")
            if arrivals.limit is not None:
                with self.lines.block("if s.live >= s.most_live:"):
                    self.lines.add("s.lost += 1", "return NOBODY")
            self.lines.add(*(["slot = s.free"] if lightly else []))
            self.lines.add(f"return {'slot' if lightly else 'next_ready(s)'} if arrive(s) == MORE else FAILED")
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
        places = drifting(self.program)
        if places:
            with self.lines.block("def reach_gauges(s: Sim) -> i64:"):
                values = [self.expressions.kept(self.program.gauges[i].expr) for i in places]
                self.lines.add(*(f"reach_gauge(s, {i}, {x})" for i, x in zip(places, values, strict=True)))
                self.lines.add("return MORE")
        self.lines.add("")

    def begin(self) -> None:
        """Time 0."""
        arrivals = self.program.arrivals
        with self.lines.block("def begin(s: Sim) -> i64:"):
            self.lines.add("if s.now >= s.next_end:", f"    {closing_of(self.program)}(s, s.now)")
            self.lines.add(*(["prepare(s, 0)"] if streams_of(self.program) else []))
            match arrivals:
                case p.Poisson():
                    self.lines.add("set_clock(s, 0, 0.0)", "s.gap = exponential(s.arrival) / s.rate")
                case p.Renewal():
                    self.lines.add("first = next_gap(s)", "if first != MORE:", "    return first")
                case p.FromTrace():
                    with self.lines.block("if s.trace.events > 0 and s.trace.starts[0] == 0.0:"):
                        self.lines.add("return arrive_together(s)")
                    self.lines.add("else:", "    set_next_start(s)")
                case p.Closed() | p.Batch():
                    with self.lines.block("for _ in range(s.first_sessions):"):
                        self.lines.add("status = arrive(s)", "if status != MORE:", "    return status")
                case _:
                    pass
            self.lines.add("return MORE")
        self.lines.add("")
