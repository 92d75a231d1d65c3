"""The price of one event by simulation: pairs of runs that meet the same random numbers and differ in that event alone.

Both runs of a pair are one and the same until some passage of the event; from there on one of them goes the other way
once. What it has more than the other, added up over the time that both are followed, has the price for its mean: the
difference of biases that the exact engine finds (`serq.semantics.counterfactual`). Pairs are independent, so the
interval is Student's. The passage is the one whose number is expected at a time of settling: by then what the event
meets is nearly what it meets in the long run.

Sessions draw from streams of their own, so that those that the event does not touch do what they would have done (A. M.
Law, Simulation Modeling and Analysis, 5th ed., section 11.2). Nothing is asked of the program, least of all that it is
a Markov chain.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import nan, nextafter

import numpy as np
from numpy.typing import NDArray

from serq.base.errors import UsageError
from serq.engines import Prepared
from serq.ir import program as p
from serq.ir.expr import double
from serq.ir.measures import Measure, measures_of
from serq.ir.results import Estimate
from serq.pipeline import SimulateOptions, pooled_estimates, run_options
from serq.semantics.estimate import student_quantile
from serq.semantics.options import RunOptions
from serq.semantics.run_result import RunResult
from serq.studies.event import KEPT, present_of
from serq.studies.twin_text import ALL, OTHER, WORK, Twin

Vector = NDArray[np.float64]
Progress = Callable[[float], object]
_Pair = tuple[Vector, tuple[float, float]]

PAIRS = 1000
METHOD = "pairs of runs that differ in one event"
PRESENT = "sessions.present"
_ENOUGH = 20_000
"""Passages of the event in the run that looks how often it happens."""
_CYCLES = 5
"""So often a session comes back to the event while a pair is followed, at first."""
_DOUBLINGS = 6
_LAGS = 8
_SURE = 1.5
"""Standard errors from which on what the last half of the time adds is taken for more than chance."""
_PER_EVENT = (("observe", "mean"), ("stage", "wait"), ("stage", "sojourn"), ("pool", "queue_wait"))


@dataclass(frozen=True)
class Works:
    """What the stage of the event is asked for: by the event, by the event that goes the other way, by everybody."""

    kept: Vector
    other: Vector
    every: Vector


@dataclass(frozen=True)
class TwinPrice:
    """What one event costs, by simulation.

    `present` in session-time away from delays, `measures` by name as `serq.semantics.counterfactual.EventPrice` has
    them. `usual`: the long-run values, `rate`: events per unit of time, both of one long run. The event was passage
    `passage`, and pairs were `followed` for so long after it. `late`: what the last half of that time added.
    """

    twin: Twin
    pairs: int
    seed: int
    passage: int
    followed: float
    engine: str
    rate: Estimate
    present: Estimate
    late: Estimate
    measures: tuple[Estimate, ...]
    usual: Mapping[str, Estimate]
    works: Works | None

    @property
    def remark(self) -> str:
        """What a reader must know of the value, empty where there is nothing."""
        if not _goes_on(self.late):
            return ""
        late = f"{double(self.late.value or 0):.2g} +- {self.late.half_width or 0:.1g}"
        return f"the last half of the time that pairs were followed added {late}: follow them for longer"


def twin_price(
    made: Twin,
    program: p.Program,
    look: "Look",
    options: SimulateOptions,
    follow: float | None = None,
    progress: Progress | None = None,
) -> TwinPrice:
    """The price of an event of the program by so many pairs of runs as the options have replications.

    `look` is what `look_at` says of it. The event happens at about the warm-up of the options, and pairs are followed
    for the time `follow`; where nothing is said, until more time adds nothing that could be told from chance.
    Raises what `serq.engines.run_replications` raises.
    """
    if options.replications < 2:
        raise UsageError(f"an interval needs two pairs of runs at least, not {options.replications}")
    if follow is not None and not 0 < follow < float("inf"):
        raise UsageError(f"pairs are followed for a positive time, not {follow:g}")
    settings = run_options(made.program, replace(options, keep_samples=True))
    runs = Prepared(made.program, settings, options.engine)
    following = _CYCLES * look.cycle if follow is None else follow
    for _ in range(_DOUBLINGS):
        settle = 2 * following if options.warmup in (None, "auto") else settings.warmup
        pairs = _Pairs(runs, settings, max(1, round(look.rate * settle)), following, look.rate)
        pairs.run(options.replications, options.jobs, progress)
        if follow is not None or not _goes_on(pairs.late(options.confidence)):
            break
        following *= 2
    return _priced(made, program, pairs, look, options.confidence)


def _goes_on(late: Estimate) -> bool:
    """Whether the last half of the time that pairs are followed still adds something."""
    return abs(double(late.value or 0)) > _SURE * (late.standard_error or 0)


# -- a look at the program -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """Events per unit of time, how long a session takes from one to the next, long-run values.

    `every`: what the stage is asked for; `works` also by the event, where every passage shows it.
    """

    rate: float
    cycle: float
    usual: Mapping[str, Estimate]
    every: Vector
    works: Works | None


def look_at(made: Twin, options: SimulateOptions) -> Look:
    """One run that goes on until the event has happened often enough, at most to the horizon of the options.

    UsageError for an event that does not happen until then; otherwise what `serq.engines.run_replications` raises.
    """
    settings = run_options(made.program, replace(options, keep_samples=True))
    runs = Prepared(made.program, settings, options.engine)
    for shorter in (64, 16, 4, 1):
        horizon = settings.horizon / shorter
        warmup = min(settings.warmup, horizon / 5) if shorter == 1 else horizon / 5
        result = runs.run(replace(settings, horizon=horizon, warmup=warmup), 0)
        passages = len(result.samples[KEPT].values)
        if passages >= _ENOUGH:
            break
    if not passages:
        raise UsageError(f"the event does not happen in a run until time {horizon:g}, so it has no price")
    usual = {e.measure: e for e in pooled_estimates(runs.program, (result,), options.confidence)}
    rate = passages / (horizon - warmup)
    number = double(usual["sessions.number"].value or 0)
    names = (WORK, OTHER, ALL)
    works = Works(*(np.array(result.samples[name].values) for name in names)) if made.works else None
    every = np.array(result.samples[ALL].values) if made.stage is not None else np.array([])
    return Look(rate, max(number, 1.0) / rate, usual, every, works)


# -- pairs -----------------------------------------------------------------------------------------------------------


class _Pairs:
    """Pairs of runs in which the same passage of the event goes the other way, followed from there on."""

    def __init__(self, runs: Prepared, settings: RunOptions, passage: int, follow: float, rate: float) -> None:
        self.runs = runs
        self.settings = settings
        self.passage = passage
        self.follow = follow
        self.expected = passage / rate
        self.names = [m.name for m in measures_of(runs.program)]

    def run(self, pairs: int, jobs: int, progress: Progress | None) -> None:
        """Run so many pairs, `jobs` at a time."""
        found, works = [], []
        for more, own in self._in_turn(pairs) if jobs <= 1 else self._side_by_side(pairs, jobs):
            found.append(more)
            works.append(own)
            if progress is not None:
                progress(len(found) / pairs)
        self.works = np.array(works).T
        self.numerators, self.denominators = np.array(found).transpose(1, 2, 0, 3)

    def _in_turn(self, pairs: int) -> Iterator[_Pair]:
        return map(self._pair, range(pairs))

    def _side_by_side(self, pairs: int, jobs: int) -> Iterator[_Pair]:
        with ThreadPoolExecutor(jobs) as pool:
            try:
                yield from pool.map(self._pair, range(pairs))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _pair(self, k: int) -> _Pair:
        """What the run with the other way has more, [numerator or denominator, measure, lag]; and the own works."""
        moment = self._moment(k)
        start = nextafter(moment, 0.0)
        settings = replace(self.settings, warmup=start, horizon=moment + self.follow, batches=_LAGS)
        before, after = (self.runs.run(replace(settings, changed=n), k) for n in (0, self.passage))
        more = [
            [np.subtract(getattr(after.series[n], part), getattr(before.series[n], part)) for n in self.names]
            for part in ("numerator", "denominator")
        ]
        session = before.samples[KEPT].sessions[0]
        return np.array(more), (_first_work(before, session), _first_work(after, session))

    def _moment(self, k: int) -> float:
        """When the event happens for that time in replication k."""
        horizon = 1.25 * self.expected
        for _ in range(5):
            settings = replace(self.settings, warmup=0.0, horizon=horizon, batches=1)
            times = self.runs.run(settings, k).samples[KEPT].times
            if len(times) >= self.passage:
                return times[self.passage - 1]
            horizon *= 2
        seen = f"the event happened {len(times)} times until time {horizon / 2:g} in replication {k}"
        raise UsageError(f"{seen}, where {self.passage} times were expected until {self.expected:g}")

    # -- what they say -----------------------------------------------------------------------------------------------

    def late(self, confidence: float) -> Estimate:
        """What the last half of the time adds to the price in session-time."""
        return _estimate("late", self._present(_LAGS // 2), confidence)

    def present(self, confidence: float) -> Estimate:
        """The price in session-time away from delays."""
        return _estimate(PRESENT, self._present(0), confidence)

    def _present(self, first: int) -> Vector:
        found = {name: self.numerators[i, :, first:].sum(axis=1) for i, name in enumerate(self.names)}
        present: Vector = np.asarray(present_of(self.runs.program, found))
        return present

    def of(self, measure: Measure, mean: float, confidence: float) -> Estimate:
        """An integral, a count or, for a mean per event, what it rises by: more of it, but for more events."""
        place = self.names.index(measure.name)
        more = self.numerators[place].sum(axis=1)
        if (measure.kind, measure.statistic) in _PER_EVENT:
            more = more - mean * self.denominators[place].sum(axis=1)
        return _estimate(measure.name, more, confidence)


def _first_work(result: RunResult, session: int) -> float:
    """What a session asks the stage for next; NaN where it does not come there, or nothing is known of it."""
    seen = result.samples.get(ALL)
    return next((x for x, who in zip(seen.values, seen.sessions, strict=True) if who == session), nan) if seen else nan


def _estimate(name: str, values: Vector, confidence: float) -> Estimate:
    n = len(values)
    value, error = float(values.mean()), float(values.std(ddof=1)) / n**0.5
    half = student_quantile(confidence, n - 1) * error
    return Estimate(name, "simulation", value, METHOD, half, confidence, error, n - 1)


def _seen(own: Vector, every: Vector) -> Works | None:
    """The works of the sessions of the event, in pairs in which they came to the stage both times."""
    both = own[:, np.isfinite(own).all(axis=0)]
    return Works(both[0], both[1], every) if both.size and every.size else None


def _priced(made: Twin, program: p.Program, pairs: _Pairs, look: Look, confidence: float) -> TwinPrice:
    measures = []
    for measure in measures_of(program):
        usual = look.usual[measure.name].value
        if usual is not None:
            measures.append(pairs.of(measure, double(usual), confidence))
    return TwinPrice(
        made, pairs.numerators.shape[1], pairs.settings.seed, pairs.passage, pairs.follow, pairs.runs.engine,
        look.usual[f"observe.{KEPT}.rate"], pairs.present(confidence), pairs.late(confidence), tuple(measures),
        look.usual, look.works or _seen(pairs.works, look.every),
    )  # fmt: skip
