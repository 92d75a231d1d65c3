"""Replays on whichever engine can do them: the compiled simulator, or the reference interpreter.

Both give the same rows, tell of the same iterations, and name the same sessions that wait for ever.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from serq.base.diagnostics import Diagnostic
from serq.base.errors import LimitError, RunError, UsageError
from serq.codegen import jit
from serq.codegen.program import Backend
from serq.engine.holds import Holds
from serq.engine.results import Left, Replay
from serq.engine.run import simulator
from serq.engine.settings import Settings
from serq.engine.sites import FaultRaised
from serq.engine.supported import why_not
from serq.engines import Engine
from serq.faults import diagnostic_of
from serq.ir import program as p
from serq.journals import Reader
from serq.semantics.limits import Limits, beginners
from serq.semantics.memory import check_population, memory_in_use
from serq.semantics.replay import Progress, Replayed, ReplayOptions, horizon_of, replay, seed_of, unsent
from serq.semantics.request_log import RequestRows
from serq.semantics.step_log import Step
from serq.semantics.waiting import MOST_NAMED, named, never_admitted, waits_for_ever
from serq.traces.corpus import Corpus

Sink = Callable[[Step], object]

_NO_END = 1e300
"""A horizon that no replay reaches."""


def replay_on(
    program: p.Program,
    corpus: Corpus | None,
    options: ReplayOptions,
    sink: Sink | None = None,
    progress: Progress | None = None,
    engine: Engine = "auto",
) -> Replayed:
    """Replay the corpus; `sink` is given every iteration.

    Raises what `serq.semantics.replay.replay` raises, and `UsageError` where `compiled` is asked for and cannot be had.
    """
    check_population(program, options.memory)
    why = "" if engine == "reference" else why_not_replayed(program, options)
    if engine == "compiled" and why:
        raise UsageError(f"the compiled engine cannot replay this: {why}; use --engine reference")
    if engine == "reference" or why:
        return replace(replay(program, corpus, options, sink, progress=progress), why=why)
    return replay_compiled(program, corpus, options, sink, progress)


def why_not_replayed(program: p.Program, options: ReplayOptions) -> str:
    """Why a replay is left to the reference, in a few words; empty where it is not."""
    if options.checked:
        return "the invariants of the machine are asserted by the reference only"
    return why_not(program) or ("" if jit.available() else "llvmlite is not installed")


def replay_compiled(
    program: p.Program,
    corpus: Corpus | None,
    options: ReplayOptions,
    sink: Sink | None = None,
    progress: Progress | None = None,
    backend: Backend = "auto",
    bounds_checked: bool = False,
) -> Replayed:
    """The same with the compiled engine. Where every iteration is told of, none are counted together."""
    horizon = horizon_of(program, options)
    limits = Limits()
    settings = Settings(
        seed_of(program, options), min(horizon, _NO_END), 0.0, 1, False, limits.commands, limits.replacements,
        options.events, limits.preemptions, first_commands=limits.first_commands * beginners(program, limits),
        together=sink is None,
    )  # fmt: skip
    holds = Holds(program, replays=True, rejects=not options.strict, tells=sink is not None)
    compiled = simulator(program, False, backend, checked=bounds_checked, holds=holds)
    reader = None if sink is None else Reader(program, partial(_name, corpus), sink)
    try:
        found = compiled.replay(settings, _Watch(options, progress), corpus, reader)
    except FaultRaised as raised:
        raise RunError(program.source, [diagnostic_of(program, raised.fault, limits.commands)]) from None
    rows = RequestRows(partial(_name, corpus))
    rows.extend(found.rows)
    rows.rejections = found.rejections
    stuck = _stuck(program, found, corpus)
    return Replayed(rows, found.time, found.events, unsent(program, corpus, rows), stuck, engine="compiled")


def _name(corpus: Corpus | None, place: int) -> str:
    """What the trace calls the session at a place."""
    return str(place) if corpus is None else corpus.names[place]


def _stuck(program: p.Program, found: Replay, corpus: Corpus | None) -> RunError | None:
    """Who waits for ever: as `serq.semantics.replay` says it."""

    def name(left: Left) -> str:
        return named(_name(corpus, left.session), left.turn)

    faults: list[Diagnostic] = [
        never_admitted(program, name(n.waiting), n.waiting.pc, n.pool, f"{n.needed:g}", n.behind) for n in found.never
    ]
    faults = faults or [waits_for_ever(program, name(x), x.pc, x.place, x.at_stage) for x in found.left]
    return RunError(program.source, faults[:MOST_NAMED]) if faults else None


class _Watch:
    """Looks at limits and progress between two calls of machine code."""

    def __init__(self, options: ReplayOptions, progress: Progress | None) -> None:
        self._options = options
        self._progress = progress

    def __call__(self, events: int, time: float, done: int) -> None:
        """Raises `LimitError` where a limit is reached."""
        limit = self._options
        if self._progress is not None:
            self._progress(time, done)
        if limit.events is not None and events >= limit.events:
            reached = f"{events} events"
        elif limit.memory is not None and (used := memory_in_use()) > limit.memory:
            reached = f"{used >> 20} MiB of memory"
        else:
            return
        raise LimitError(f"the replay was stopped at {reached}: time {time:g}, {done} requests done")
