"""Replays on whichever engine can do them: the compiled simulator, or the reference interpreter.

Both give the same rows. The reference also tells of every iteration, and says who waits for ever: where that is asked
for, or happens, it does the replay.
"""

from collections.abc import Callable
from dataclasses import replace

from serq.base.errors import LimitError, RunError, UsageError
from serq.codegen import jit
from serq.codegen.program import Backend
from serq.engine.run import simulator
from serq.engine.settings import Settings
from serq.engine.sites import FaultRaised
from serq.engine.supported import why_not
from serq.engines import Engine
from serq.faults import diagnostic_of
from serq.ir import program as p
from serq.semantics.limits import Limits, beginners
from serq.semantics.memory import check_population, memory_in_use
from serq.semantics.replay import Progress, Replayed, ReplayOptions, horizon_of, replay, seed_of, unsent
from serq.semantics.request_log import RequestRows
from serq.semantics.step_log import Step
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
    """Replay the corpus; `sink` is given every iteration, by the reference.

    Raises what `serq.semantics.replay.replay` raises, and `UsageError` where `compiled` is asked for and cannot be had.
    """
    check_population(program, options.memory)
    why = "" if engine == "reference" else why_not_replayed(program, options, sink)
    if engine == "compiled" and why:
        raise UsageError(f"the compiled engine cannot replay this: {why}; use --engine reference")
    if engine != "reference" and not why:
        replayed = replay_compiled(program, corpus, options, progress)
        if replayed is not None:
            return replayed
        why = "sessions wait at the end, and the reference says who"
    return replace(replay(program, corpus, options, sink, progress=progress), why=why)


def why_not_replayed(program: p.Program, options: ReplayOptions, sink: Sink | None) -> str:
    """Why a replay is left to the reference, in a few words; empty where it is not."""
    if options.checked:
        return "the invariants of the machine are asserted by the reference only"
    if sink is not None:
        return "steps are written by the reference only"
    if program.trace is None and not {"new", "out"}.isdisjoint(program.attributes):
        return "no trace says what `new` and `out` are"
    return why_not(program) or ("" if jit.available() else "llvmlite is not installed")


def replay_compiled(
    program: p.Program,
    corpus: Corpus | None,
    options: ReplayOptions,
    progress: Progress | None = None,
    backend: Backend = "auto",
    bounds_checked: bool = False,
) -> Replayed | None:
    """The same with the compiled engine; None where sessions wait at the end, whom only the reference can name."""
    horizon = horizon_of(program, options)
    limits = Limits()
    settings = Settings(
        seed_of(program, options), min(horizon, _NO_END), 0.0, 1, False, limits.commands, limits.replacements,
        options.events, limits.preemptions, first_commands=limits.first_commands * beginners(program, limits),
    )  # fmt: skip
    compiled = simulator(program, False, backend, checked=bounds_checked, replays=True, rejects=not options.strict)
    try:
        found = compiled.replay(settings, _Watch(options, progress), corpus)
    except FaultRaised as raised:
        raise RunError(program.source, [diagnostic_of(program, raised.fault, limits.commands)]) from None
    if found.stuck:
        return None
    names = None if corpus is None else corpus.names
    rows = RequestRows(lambda place: str(place) if names is None else names[place])
    rows.extend(found.rows)
    rows.rejections = found.rejections
    return Replayed(rows, found.time, found.events, unsent(program, corpus, rows), engine="compiled")


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
