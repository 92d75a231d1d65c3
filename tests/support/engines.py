"""Whether the compiled simulator did what the reference did, to the bit."""

import math
from array import array
from collections.abc import Iterable
from dataclasses import astuple, replace

import pytest

from serq.base.errors import RunError
from serq.codegen.program import Backend
from serq.engines import run_compiled
from serq.ir.program import Program
from serq.pipeline import SimulateOptions, run_options
from serq.semantics.options import RunOptions
from serq.semantics.reference import simulate
from serq.semantics.run_result import RunResult
from serq.semantics.statistics import Counts


def short(program: Program, horizon: float = 60.0) -> RunOptions:
    """A short run that keeps its samples."""
    options = run_options(program, SimulateOptions(horizon=horizon, warmup=horizon / 10, seed=5))
    return replace(options, keep_samples=True)


def raw(numbers: Iterable[float]) -> bytes:
    """The bytes of doubles; all NaN are one."""
    return array("d", (x if x == x else math.nan for x in numbers)).tobytes()


def bits(counts: Counts) -> list[bytes]:
    """All sums, as the bytes of doubles: NaN equals itself."""
    rows = [*counts.stages, *counts.pools, counts.sessions, *counts.observes.values()]
    out = [raw(counts.widths), *(raw(areas) for areas in counts.gauges)]
    for row in rows:
        for sums in row:
            numbers = sums if isinstance(sums, tuple) else astuple(sums)
            out.append(raw(numbers))
    return out


def events_of_both(
    program: Program,
    options: RunOptions,
    backend: Backend,
    *,
    opt: int = 2,
    bounds_checked: bool = True,
    together: bool = True,
) -> int:
    """Assert that sums, samples and counts of events are the same; the number of events."""
    expected = simulate(program, options)
    (found,) = run_compiled(
        program, options, 1, backend=backend, opt=opt, bounds_checked=bounds_checked, together=together
    ).results
    assert_same(found, expected)
    return expected.events


def assert_same_outcome(program: Program, options: RunOptions, backend: Backend, bounds_checked: bool = True) -> None:
    """Both engines do the same, or stop for the same reasons."""
    try:
        expected = simulate(program, options)
    except RunError as error:
        stopped = error
    else:
        stopped = None
    if stopped is not None:
        with pytest.raises(RunError) as found:
            run_compiled(program, options, 1, backend=backend, bounds_checked=bounds_checked, opt=0)
        assert found.value.diagnostics == stopped.diagnostics
        return
    (run,) = run_compiled(program, options, 1, backend=backend, bounds_checked=bounds_checked, opt=0).results
    assert_same(run, expected)


def assert_same(found: RunResult, expected: RunResult) -> None:
    """Both runs did the same."""
    assert found.events == expected.events
    assert bits(found.counts) == bits(expected.counts)
    assert (found.rested, found.waiting) == (expected.rested, expected.waiting)
    assert list(found.samples) in ([], list(expected.samples))
    for name, samples in found.samples.items():
        other = expected.samples[name]
        for kept in ("values", "times", "sessions", "turns"):
            assert raw(getattr(samples, kept)) == raw(getattr(other, kept)), (name, kept)
