"""What a simulation needs beside its replications: a warm-up that is found, remarks, and a report on half a run."""

from dataclasses import replace

from serq.engines import Engine, run_replications, why_not_compiled
from serq.ir.program import Program
from serq.semantics.options import RunOptions
from serq.semantics.report import PartialError, report_of
from serq.semantics.run_result import Progress, StoppedError
from serq.semantics.warmup import PARTS, Warmup, warmup_of

_PILOTS = 8
"""More replications than this make the transient no clearer."""


def automatic_warmup(
    program: Program,
    settings: RunOptions,
    replications: int,
    jobs: int = 1,
    engine: Engine = "auto",
    progress: Progress | None = None,
) -> Warmup:
    """What MSER-5 cuts off runs without a warm-up, the first eight replications together."""
    pilot = replace(settings, warmup=0.0, batches=PARTS, keep_samples=False, checked=False)
    number = min(replications, _PILOTS)
    return warmup_of(run_replications(program, pilot, number, jobs, progress, engine).results)


def remarks_on(settings: RunOptions) -> tuple[str, ...]:
    """What a reader should know about how the program is run."""
    if settings.warmup <= settings.horizon / 2:
        return ()
    share = settings.warmup / settings.horizon
    return (f"the warm-up takes {share:.0%} of the run: only time {settings.warmup:g} to {settings.horizon:g} counts",)


def partial(program: Program, settings: RunOptions, confidence: float, engine: Engine, stopped: StoppedError) -> None:
    """Raise PartialError with a report on the replication that a limit stopped, or the same when there is none."""
    if stopped.result is None:
        raise stopped
    until = replace(settings, horizon=settings.warmup + sum(stopped.result.counts.widths))
    plain = report_of(program, until, [stopped.result], confidence, stopped.observations)
    why = why_not_compiled(program, settings)
    report = replace(
        plain,
        engine="reference" if why or engine == "reference" else "compiled",
        why_reference=why if engine == "auto" else "",
        stopped=str(stopped),
    )
    raise PartialError(report, (stopped.result,)) from None
