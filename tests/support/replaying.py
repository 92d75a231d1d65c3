"""Whether a compiled replay did what the reference did, to the last digit of the files that are written of it."""

from serq.base.diagnostics import Diagnostic
from serq.base.errors import RunError
from serq.codegen.program import Backend
from serq.ir.program import Program
from serq.replays import replay_compiled
from serq.semantics.replay import Replayed, ReplayOptions, replay
from serq.semantics.replay_tables import request_lines, step_line
from serq.traces.corpus import Corpus

Outcome = tuple[list[str], Replayed | list[Diagnostic]]
"""The lines of the steps, and what came of the replay."""


def of_reference(program: Program, corpus: Corpus | None, options: ReplayOptions) -> Outcome:
    """The reference's replay."""
    lines: list[str] = []
    try:
        return lines, replay(program, corpus, options, lambda step: lines.append(step_line(step)))
    except RunError as error:
        return lines, list(error.diagnostics)


def of_engine(
    program: Program, corpus: Corpus | None, options: ReplayOptions, backend: Backend, told: bool, checked: bool
) -> Outcome:
    """The engine's; `told`: with its steps."""
    lines: list[str] = []
    sink = (lambda step: lines.append(step_line(step))) if told else None
    try:
        return lines, replay_compiled(program, corpus, options, sink, backend=backend, bounds_checked=checked)
    except RunError as error:
        return lines, list(error.diagnostics)


def assert_same_replay(
    program: Program, corpus: Corpus | None, options: ReplayOptions, backend: Backend, checked: bool = True
) -> tuple[int, Replayed | None]:
    """Steps, requests, the end and who is stuck are the same; the number of steps, and the reference's replay."""
    steps, expected = of_reference(program, corpus, options)
    for told in (True, False):
        lines, found = of_engine(program, corpus, options, backend, told, checked)
        assert lines == (steps if told else [])
        if isinstance(expected, list) or isinstance(found, list):
            assert found == expected
            continue
        assert list(request_lines(found.requests)) == list(request_lines(expected.requests))
        assert (found.time, found.events, found.unsent) == (expected.time, expected.events, expected.unsent)
        assert found.requests.rejections == expected.requests.rejections
        assert diagnostics(found) == diagnostics(expected)
    return len(steps), None if isinstance(expected, list) else expected


def diagnostics(replayed: Replayed) -> list[Diagnostic]:
    """Who waits for ever."""
    return [] if replayed.stuck is None else list(replayed.stuck.diagnostics)
