"""Running a compiled simulator: call after call, with room made where it is needed."""

import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import compress, islice, pairwise

from serq.codegen import Compiled, compile_module, jit
from serq.codegen.program import Backend
from serq.codegen.ripening import CAREFUL, Ripening, compile_quickly
from serq.engine import state
from serq.engine.holds import Holds
from serq.engine.lower import Lowered, lower
from serq.engine.memory import fields_of, fill_online, grow_online, grow_slots, make_log
from serq.engine.pool_memory import grow_entries, grow_pool_slots, make_pools, pool_rows
from serq.engine.pool_state import GOING, GONE, QUEUED, REJECTED, STALLED
from serq.engine.replaying import replayed
from serq.engine.request_memory import (
    grow_requests,
    make_journal,
    make_requests,
    open_rows,
    take_journal,
    take_rows,
)
from serq.engine.requests import COLUMNS
from serq.engine.results import (
    EngineResult,
    Left,
    Log,
    NeverAdmitted,
    Profile,
    Replay,
    Row,
    SessionRow,
    Sketch,
    StageRow,
    Waiting,
    buckets_of,
    profile_of,
)
from serq.engine.settings import Settings
from serq.engine.sites import Fault, FaultRaised
from serq.engine.step_memory import fill_steps, grow_steps
from serq.engine.step_text import step_stages
from serq.engine.stride import Stride
from serq.engine.trace_memory import fill_trace, grow_trace
from serq.ir import program as p
from serq.traces.corpus import Corpus

EVENTS_A_CALL = 65_536
"""At most: a few milliseconds of machine code, so often an interrupt is noticed."""
_FIRST_SLOTS = 1024
_RESERVE = 1 << 12
_ENTRIES = 1 << 6
"""Cached prefixes, and slots, that one event may need."""

Pause = Callable[[int, float, int], object]
"""Told the number of events, the time and the number of sessions between two calls; what it raises stops the run."""


Tell = Callable[["array[float]"], object]
"""Given the journal of a replay, piece by piece."""


class EnoughError(Exception):
    """Raised by a pause: the run ends at once, with what was counted so far. The message says why."""


@dataclass(frozen=True, slots=True)
class Simulator:
    """A compiled program: run it as often as you like, in several threads if you like."""

    program: p.Program
    keep_samples: bool
    lowered: Lowered
    compiled: Compiled | Ripening

    def run(
        self, settings: Settings, replication: int = 0, pause: Pause | None = None, corpus: Corpus | None = None
    ) -> EngineResult:
        """One replication; `corpus` is what a program with a trace replays.

        Raises `FaultRaised` for what the program does wrong, and whatever `pause` raises but for `EnoughError`.
        """
        assert settings.keep_samples == self.keep_samples
        factor = 1
        while True:
            result = _Run(self, settings, replication, factor, corpus).run(pause)
            if result is not None:
                return result
            factor *= 8  # what one event observes or caches had no room

    def replay(self, settings: Settings, pause: Pause, corpus: Corpus | None, tell: Tell | None = None) -> Replay:
        """A replay, with what becomes of every request; `pause` is told the number of requests that are over.

        `tell` is given the journal, if the simulator writes one (see `serq.engine.journal`), in pieces of whole rows.
        Raises what `run` raises.
        """
        factor, told = 1, 0
        while True:
            run = _Run(self, settings, 0, factor, corpus, tell)
            run.known = told
            result = run.run(run.counting(pause))
            if result is not None:
                return run.replayed(result)
            factor, told = factor * 8, run.told


def simulator(
    program: p.Program, keep_samples: bool, backend: Backend = "auto", *, checked: bool = False, opt: int | None = None,
    holds: Holds | None = None,
) -> Simulator:  # fmt: skip
    """Compile a program that `serq.engine.supported.why_not` has nothing against; `holds` is given for replays of a
    trace (see `serq.engine.holds`). `opt` is LLVM's level; None: as much as pays.
    """
    lowered = lower(program, keep_samples, holds)
    looks = lowered.holds.replays and bool(program.pools)
    exports = ("begin", "run", "finish", *(("look",) if looks else ()))
    compiled: Compiled | Ripening
    if opt is None and backend == "auto" and not checked and jit.available():
        compiled = compile_quickly(lowered.text, exports)
    else:
        level = CAREFUL if opt is None else opt
        compiled = compile_module(lowered.text, backend, exports=exports, checked=checked, opt=level)
    return Simulator(program, keep_samples, lowered, compiled)


class _Run:
    """One run in progress."""

    def __init__(
        self, simulator: Simulator, settings: Settings, replication: int, factor: int, corpus: Corpus | None,
        tell: Tell | None = None,
    ) -> None:  # fmt: skip
        self.factor, self.tell = factor, tell
        self.known = self.told = 0
        self.program = program = simulator.program
        self.compiled = simulator.compiled
        self.stride = Stride(EVENTS_A_CALL)
        self.settings = settings
        self.ends = settings.ends()
        self.lowered = lowered = simulator.lowered
        self.sites = lowered.sites
        self.holds = lowered.holds
        self.logs = tuple(Log() for _ in program.observes) if settings.keep_samples else ()
        self._in_warmup = True
        self.requests = array("d")
        self.sim = self.compiled.record("Sim", **fields_of(program, lowered, settings, replication))
        fill_steps(self.sim.steps, program, settings)
        fill_online(self.sim.online, len(program.stages))
        fill_trace(self.sim.trace, program, corpus, settings.seed, replication)
        reserve, entries = _RESERVE * factor, _ENTRIES * factor
        slots = _slots(program, corpus) + (entries if self.holds.ghosts else 0)
        if program.pools:
            make_pools(self.sim.pools, self.holds, settings.batches, entries)
            grow_entries(self.sim.pools, 2 * entries + slots * len(program.pools) if self.holds.caching else 1)
        self._grow(slots)
        if self.holds.replays:
            make_requests(self.sim.requests, self.holds, reserve)
        make_log(self.sim, settings.log + reserve if self.logs else 0, reserve if self.logs else 0)

    def run(self, pause: Pause | None) -> EngineResult | None:
        """To the horizon, or until nothing happens any more; None where the room for one event was too small."""
        sim, status = self.sim, self.compiled.call("begin", self.sim)
        while True:
            self._drain()
            if sim.log_full or sim.pools.short:
                return None
            self._tell()
            if status == state.FAULT:
                raise FaultRaised(self._fault())
            if status == state.GROW:
                self._make_room()
            elif status in (state.DONE, state.RESTED):
                break
            if pause is not None:
                try:
                    pause(sim.events, sim.now, sim.live)
                except EnoughError as enough:
                    return self._stopped(str(enough))
            began = time.perf_counter()
            status = self.compiled.call("run", sim, self._most())
            self.stride.took(time.perf_counter() - began)
        self.compiled.call("finish", sim)
        self._drain()
        return self._result(status == state.RESTED)

    def counting(self, pause: Pause) -> Pause:
        """A pause that is told the number of requests."""
        return lambda events, time, _: pause(events, time, len(self.requests) // COLUMNS)

    def replayed(self, result: EngineResult) -> Replay:
        """What a run that is over says of the requests."""
        sim = self.sim
        rejections = sum(pool.rejections for row in result.rows for pool in row.pools)
        never = tuple(filter(None, map(self._never_admitted, range(len(self.program.pools)))))
        left = tuple(map(self._left, self._slots_by_age())) if result.rested is not None else ()
        rows = self.requests + open_rows(sim, self.holds)
        return Replay(rows, sim.now, sim.events, rejections, never, left)

    def _never_admitted(self, pool: int) -> NeverAdmitted | None:
        """The hold whose turn it is at a pool, where it asks for more than there ever is."""
        status, pools = self.compiled.call("look", self.sim, pool), self.sim.pools
        if status == state.FAULT:
            raise FaultRaised(self._fault())
        if status != REJECTED:
            return None
        return NeverAdmitted(self._left(pools.index), self.sim.fault_place, pools.value, pools.queued[pool] - 1)

    def _left(self, slot: int) -> Left:
        sim = self.sim
        status = sim.pools.status[slot] if self.program.pools else GOING
        which = replayed(sim.trace, slot, sim.serial[slot]) if sim.trace.sessions else sim.serial[slot]
        pc = self.lowered.places[sim.pc[slot]]
        return Left(which, sim.turn[slot], pc, sim.place[slot], status not in (QUEUED, STALLED))

    def _slots_by_age(self) -> list[int]:
        """The slots of the sessions that are there, in the order of their arrival."""
        sim = self.sim
        there = [slot for slot in range(sim.cap) if sim.serial[slot] >= 0]
        if self.program.pools:
            there = [slot for slot in there if sim.pools.status[slot] in (GOING, QUEUED, STALLED)]
        return sorted(there, key=lambda slot: sim.serial[slot])

    def _make_room(self) -> None:
        """There is too little for the next event."""
        pools = self.sim.pools
        if self.holds.caching and pools.vacant < pools.reserve:
            grow_entries(pools, 2 * len(pools.size))
        else:
            self._grow(2 * self.sim.cap)

    def _stopped(self, why: str) -> EngineResult:
        """What was counted until now; the batch in progress ends here. Nothing within the warm-up."""
        sim, closed = self.sim, self.sim.closed
        if closed and sim.now > self.ends[closed - 1]:
            self.ends[closed:] = [sim.now]
            sim.ends[closed] = sim.next_end = sim.now
            sim.last_end = closed
            self.compiled.call("finish", sim)
        else:
            del self.ends[max(closed, 1) :]
        return replace(self._result(False), stopped=why)

    def _grow(self, capacity: int) -> None:
        """Make room for so many sessions."""
        sim, program = self.sim, self.program
        grow_steps(sim.steps, sim.cap, capacity, len(step_stages(program)))
        grow_trace(sim.trace, sim.cap, capacity)
        if self.holds.replays:
            grow_requests(sim.requests, sim.cap, capacity)
        if self.holds.tells:
            make_journal(sim.requests, self.holds, capacity, self.factor)
        grow_online(sim.online, capacity)
        if program.pools:
            grow_pool_slots(sim.pools, self.holds, sim.cap, capacity)
        grow_slots(sim, capacity, len(program.attributes), self.lowered.words, len(self.lowered.shared) + 1)

    def _most(self) -> int:
        events = self.settings.events
        return self.stride.events if events is None else max(1, min(self.stride.events, events - self.sim.events))

    def _tell(self) -> None:
        """Hand the journal over, but for what was told before a run had to begin again."""
        if self.tell is not None:
            numbers = take_journal(self.sim.requests)
            again = min(max(self.known - self.told, 0), len(numbers))
            self.told += len(numbers)
            self.tell(numbers[again:])

    def _drain(self) -> None:
        """Take the log over."""
        sim = self.sim
        if self.holds.replays:
            self.requests += take_rows(sim.requests)
        if not self.logs:
            return
        if self._in_warmup and sim.closed > 0:
            self._in_warmup = False
            for log in self.logs:
                for kept in (log.values, log.times, log.sessions, log.turns):
                    del kept[:]
        size = sim.log_size
        names = sim.log_name[:size]
        for name, log in enumerate(self.logs):
            ours = [x == name for x in names]
            log.values.extend(compress(sim.log_value[:size], ours))
            log.times.extend(compress(sim.log_time[:size], ours))
            log.sessions.extend(compress(sim.log_serial[:size], ours))
            log.turns.extend(compress(sim.log_turn[:size], ours))
        sim.log_size = 0

    _in_warmup = True

    def _fault(self) -> Fault:
        sim = self.sim
        values = tuple(sim.fault_values[i] for i in range(len(sim.fault_values)))
        return Fault(self.sites[sim.fault_site], sim.now, sim.fault_serial, sim.fault_place, values)

    # -- results -----------------------------------------------------------------------------------------------------

    def _result(self, rested: bool) -> EngineResult:
        sim = self.sim
        widths = tuple(b - a for a, b in pairwise(self.ends))
        return EngineResult(
            widths, tuple(self._rows()), self.logs, () if self.logs else self._sketches(), self._profiles(), sim.events,
            sim.now if rested else None, tuple(self._present()) if rested else (),
        )  # fmt: skip

    def _present(self) -> list[Waiting]:
        """The sessions that are there, each with where it is, in the order of their arrival."""
        sim = self.sim
        return sorted(filter(None, map(self._waiting, range(sim.cap))), key=lambda waiting: waiting.serial)

    def _waiting(self, slot: int) -> Waiting | None:
        sim, serial = self.sim, self.sim.serial[slot]
        status = sim.pools.status[slot] if self.program.pools else GOING
        if serial < 0 or status == GONE:
            return None
        if status == QUEUED:
            statement = self.holds.statements[sim.pools.claim[slot]]
            return Waiting(serial, sim.place[slot], statement.hold.span.line)
        if status == STALLED:
            return Waiting(serial, sim.place[slot], self.program.code[self.lowered.places[sim.pc[slot]]].span.line)
        return Waiting(serial, sim.place[slot], None)

    def _rows(self) -> list[Row]:
        rows, program = [], self.program
        values = iter(self.sim.rows)
        pools = pool_rows(self.sim.pools) if program.pools else iter(())
        for _ in range(len(self.ends) - 1):
            stages = []
            for _ in program.stages:
                sums = [next(values) for _ in range(state.STAGE_SUMS)]
                stages.append(
                    StageRow(sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], int(sums[6]), int(sums[7]))
                )
            gauges = tuple(next(values) for _ in program.gauges)
            number = next(values)
            sessions = SessionRow(number, *(int(next(values)) for _ in range(state.SESSION_SUMS - 1)))
            observes = tuple((next(values), int(next(values))) for _ in program.observes)
            rows.append(Row(tuple(stages), gauges, sessions, observes, tuple(islice(pools, len(program.pools)))))
        return rows

    def _sketches(self) -> tuple[Sketch, ...]:
        sim = self.sim
        return tuple(
            Sketch(
                sim.seen[i], sim.undefined[i], sim.mean[i], sim.square[i], sim.least[i], sim.most[i],
                buckets_of(sim.buckets, i, sim.least[i], sim.most[i]),
            )
            for i in range(len(self.program.observes))
        )  # fmt: skip

    def _profiles(self) -> tuple[Profile, ...]:
        sim, names = self.sim, len(self.program.observes)
        if not sim.profiled:
            return ()
        rows = len(self.ends) - 1
        return tuple(profile_of(sim.profile, rows, i, names, sim.least[i], sim.most[i]) for i in range(names))


def _slots(program: p.Program, corpus: Corpus | None) -> int:
    """How many sessions there is room for at first."""
    match program.arrivals:
        case p.Closed(population=size) | p.Batch(size=size):
            return max(p.whole(size), 1)
        case p.FromTrace() if corpus is not None:
            return max(_FIRST_SLOTS, *(count for time, count in corpus.arrivals() if time == 0.0), 1)
        case p.Poisson(limit=p.Folded() as limit) | p.Renewal(limit=p.Folded() as limit):
            return min(p.whole(limit) + 2, _FIRST_SLOTS)
        case _:
            return _FIRST_SLOTS
