"""What formulas say that one event costs which changes a work: each with what it assumes beyond the program.

They know the stage of the event alone: the works that it is asked for, as a simulation saw them, how often, and by how
many sessions. At a step stage a work is the time that the iterations of its prefill take alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from serq.closedforms.arguments import Argument
from serq.closedforms.registry import evaluate
from serq.ir import program as p
from serq.ir.expr import double
from serq.studies.alone import seconds_alone
from serq.studies.twin_text import ALL
from serq.studies.twins import Works

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Assumed:
    """A price by a formula. `value` None: it has no answer, and `reason` says why. `error`: the standard error that the
    value has from the works that were seen, by leaving out one sixteenth of them after the other (the jackknife).
    """

    formula: str
    value: float | None
    assumes: str
    reason: str = ""
    error: float = 0.0


@dataclass(frozen=True)
class _Station:
    """The stage of the event as formulas see it: works in seconds, jobs per unit of time, who comes."""

    works: Works
    rate: float
    sources: int | None
    think: float
    serial: bool
    shared: bool

    @property
    def mean(self) -> float:
        return float(self.works.every.mean())


def event_formulas(
    program: p.Program,
    place: int | None,
    works: Works | None,
    usual: Mapping[str, float],
    decodes: bool = False,
) -> tuple[Assumed, ...]:
    """The price of the event at the stage at that place by every formula, in session-time.

    `works`: what the stage is asked for, None where nobody has seen it; `usual`: the long-run values of the program.
    `decodes`: the event is a run that decodes, of which no formula knows.
    """
    if decodes:
        return tuple(_silent(title, "a request that decodes shares its iterations with others") for title in _TITLES)
    if place is None:
        return tuple(_silent(title, "the event is about no stage") for title in _TITLES)
    if works is None:
        return tuple(_silent(title, "the works are seen in pairs of runs: ask for sim too") for title in _TITLES)
    station = _station(program, place, works, usual)
    if isinstance(station, str):
        return tuple(_silent(title, station) for title in _TITLES)
    parts = [replace(station, works=_without(station.works, k)) for k in range(BLOCKS)]
    return tuple(_with_error(title, ask, station, parts) for title, ask in _TITLES.items())


BLOCKS = 16
"""Parts of the works, of which each is left out once."""


def _without(works: Works, block: int) -> Works:
    """The works without one of BLOCKS parts, each as long in time."""

    def kept(row: Vector) -> Vector:
        first, last = (len(row) * k // BLOCKS for k in (block, block + 1))
        return np.concatenate((row[:first], row[last:]))

    return Works(kept(works.kept), kept(works.other), kept(works.every))


def _with_error(title: str, ask: Callable[[str, _Station], Assumed], whole: _Station, parts: list[_Station]) -> Assumed:
    """The price with what leaving out works does to it: B. Efron, The Jackknife, the Bootstrap (1982), chapter 3."""
    found = ask(title, whole)
    if found.value is None or len(whole.works.kept) < BLOCKS:
        return found
    values = [again.value for part in parts if (again := ask(title, part)).value is not None]
    if len(values) < BLOCKS:
        return found
    return replace(found, error=float(np.std(values)) * (BLOCKS - 1) ** 0.5)


def _station(program: p.Program, place: int, works: Works, usual: Mapping[str, float]) -> _Station | str:
    """The stage, or why formulas cannot have it."""
    stage = program.stages[place]
    if "[" in stage.name:
        return f"{stage.name} is one of several stages"
    if isinstance(stage.kind, p.Delay):
        return "nobody waits at a delay"
    if isinstance(stage.kind, p.Fifo) and p.whole(stage.kind.servers) > 1:
        return f"{stage.name} has several servers"
    if isinstance(stage.kind, p.Step):
        alone = seconds_alone(program, place)
        works = Works(*(np.array([alone(x) for x in row]) for row in (works.kept, works.other, works.every)))
    elif isinstance(stage.kind, p.ProcessorSharing) and not _at_rate_one(stage.kind):
        return f"the speed of {stage.name} depends on how many jobs are there"
    rate = usual.get(f"observe.{ALL}.rate", 0.0)
    number = usual.get(f"stage.{stage.name}.number", 0.0)
    sources = p.whole(program.arrivals.population) if isinstance(program.arrivals, p.Closed) else None
    think = 0.0 if sources is None else max(sources - number, 0.0) / rate
    shared = isinstance(stage.kind, p.ProcessorSharing)
    return _Station(works, rate, sources, think, isinstance(stage.kind, p.Step), shared)


def _at_rate_one(kind: p.ProcessorSharing) -> bool:
    from serq.ir import expr as e

    return isinstance(kind.rate, e.Num) and kind.rate.value == 1


def _silent(title: str, reason: str) -> Assumed:
    return Assumed(title, None, "", reason)


# -- the formulas ----------------------------------------------------------------------------------------------------


def _alone(title: str, s: _Station) -> Assumed:
    value = float(s.works.other.mean() - s.works.kept.mean())
    return Assumed(title, value, f"nobody waits for anybody{_prefill(s)}")


def _open(title: str, s: _Station) -> Assumed:
    load = s.rate * s.mean
    what = (
        f"Poisson arrivals, {s.rate:.4g} per unit of time, that do not wait for answers; load {load:.3g}{_prefill(s)}"
    )
    if load >= 1:
        return Assumed(title, None, what, f"a load of {load:.3g} has no steady state in an open queue")
    common = {"lam": s.rate, "m": s.mean} | _means(s)
    if s.shared:
        return _asked(title, "mg1ps-miss", common, what)
    seconds = {name: float(np.mean(row**2)) for name, row in zip(("m2", "sh2", "sm2"), _rows(s), strict=True)}
    return _asked(title, "mg1-miss", common | seconds, what)


def _takacs(title: str, s: _Station) -> Assumed:
    what = _sources(s, "works that do not depend on the past")
    if s.shared:
        return _exponential(title, s)
    reason = _no_sources(s)
    if reason:
        return Assumed(title, None, what, reason)
    assert s.sources is not None
    points = np.arange(1, s.sources + 1) / s.think
    names = ("phi", "phih", "phim")
    transforms = {
        name: tuple(float(np.exp(-at * row).mean()) for at in points) for name, row in zip(names, _rows(s), strict=True)
    }
    return _asked(title, "mg1n-miss", _finite(s) | transforms, what)


def _exponential(title: str, s: _Station) -> Assumed:
    what = _sources(s, "exponential works that do not depend on the past, a small change")
    reason = _no_sources(s)
    if reason:
        return Assumed(title, None, what, reason)
    return _asked(title, "mm1n-miss", _finite(s), what)


_TITLES = {
    "extra work alone": _alone,
    "open queue (M/G/1)": _open,
    "finite source (M/G/1//N)": _takacs,
    "finite source (M/M/1//N)": _exponential,
}


def _rows(s: _Station) -> Sequence[Vector]:
    return s.works.every, s.works.kept, s.works.other


def _means(s: _Station) -> dict[str, float]:
    return {"sh": float(s.works.kept.mean()), "sm": float(s.works.other.mean())}


def _finite(s: _Station) -> dict[str, Argument]:
    return {"N": Fraction(s.sources or 0), "m": s.mean, "Z": s.think, **_means(s)}


def _sources(s: _Station, works: str) -> str:
    who = "" if s.sources is None else f"{s.sources} sessions, {s.think:.4g} between two visits on average; "
    return f"{who}{works}{_prefill(s)}"


def _no_sources(s: _Station) -> str:
    if s.sources is None:
        return "the number of sessions is not fixed"
    return "" if s.think > 0 else "no session is ever away from the stage"


def _prefill(s: _Station) -> str:
    return "; one request at a time, and only prefill takes time" if s.serial else ""


def _asked(title: str, formula: str, arguments: Mapping[str, Argument], what: str) -> Assumed:
    found = evaluate(formula, arguments)
    if found.failed:
        return Assumed(title, None, what, "; ".join(found.failed))
    price = found.values["price"]
    assert not isinstance(price, tuple)
    return Assumed(title, double(price), what)
