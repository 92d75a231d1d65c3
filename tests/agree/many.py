"""Many generated programs on both engines, once: `python tests/agree/many.py KIND FIRST COUNT [--backend llvm]`.

The programs and the comparison are those of the tests beside this file, with other seeds. Prints how many programs
there were, their events, in how many of them each construct of the language is, and every difference with its seed.
With `--replays` they are replayed, and every row, iteration and name of who waits for ever is compared.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from deployments import deployment
from engine_programs import engine_program
from engines import assert_same, short
from finite_programs import finite_program
from pool_programs import pool_program
from preempting_programs import preempting_program
from replaying import assert_same_replay
from step_programs import step_program, traced_program

from serq.base.errors import RunError
from serq.engine.supported import why_not
from serq.engines import run_compiled
from serq.ir.program import Program
from serq.pipeline import load_text
from serq.semantics.options import RunOptions
from serq.semantics.reference import simulate
from serq.semantics.replay import ReplayOptions
from serq.traces.reader import read_trace

KINDS = ("ties", "chains", "pools", "steps", "preempting", "traces", "deployments")
_WORDS = ("law", "fact", "op", "function")
"""Fields whose values are constructs of their own."""


@dataclass(frozen=True)
class Case:
    """A program, and a run of it."""

    program: Program
    options: RunOptions


def case(kind: str, seed: int, place: Path) -> Case:
    """The program of a kind and seed; what it replays lies in `place`."""
    trace, horizon = "", 60.0
    match kind:
        case "ties":
            text = engine_program(seed)
        case "chains":
            text = finite_program(seed).text
        case "pools":
            text = pool_program(seed)
        case "steps":
            text = step_program(seed)
        case "preempting":
            text = preempting_program(seed)
        case "traces":
            text, trace = traced_program(seed)
        case _:
            made = deployment(seed)
            text, trace, horizon = made.text, made.trace, made.horizon or 40.0
    program, path = load_text(text).program, place / "trace.csv"
    path.write_text(trace)
    return Case(program, replace(short(program, horizon), trace=None if program.trace is None else str(path)))


def difference(at: Case, backend: str, checked: bool) -> tuple[int, str]:
    """The number of events (-1 where the run is stopped), and in what the engines differ."""
    try:
        expected = simulate(at.program, at.options)
    except RunError as error:
        try:
            run_compiled(at.program, at.options, 1, backend=backend, opt=0, bounds_checked=checked)
        except RunError as other:
            return -1, "" if list(error.diagnostics) == list(other.diagnostics) else f"{error} / {other}"
        return -1, f"only the reference stops: {error}"
    try:
        found = run_compiled(at.program, at.options, 1, backend=backend, opt=0, bounds_checked=checked).results[0]
        assert_same(found, expected)
    except (RunError, AssertionError) as error:
        return expected.events, f"{type(error).__name__}: {error}"[:300]
    return expected.events, ""


def replay_difference(at: Case, backend: str, checked: bool) -> tuple[int, str]:
    """The same of replays."""
    trace, path = at.program.trace, at.options.trace
    corpus = None if trace is None or path is None else read_trace(Path(path), trace.columns)
    try:
        _, played = assert_same_replay(at.program, corpus, ReplayOptions(horizon=at.options.horizon), backend, checked)
    except AssertionError as error:
        return 0, f"AssertionError: {error}"[:300]
    return (-1 if played is None else played.events), ""


def constructs(node: object) -> Iterator[str]:
    """The names of all that a program is made of."""
    if isinstance(node, tuple):
        for part in node:
            yield from constructs(part)
    elif is_dataclass(node):
        yield type(node).__name__
        for f in fields(node):
            value = getattr(node, f.name)
            if f.name in _WORDS and isinstance(value, str):
                yield value
            elif f.name != "span":
                yield from constructs(value)


def main() -> None:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--backend", default="cpython")
    parser.add_argument("--checked", action="store_true", help="with bounds")
    parser.add_argument("--replays", action="store_true", help="compare replays")
    given = parser.parse_args()
    compare = replay_difference if given.replays else difference
    seen: Counter[str] = Counter()
    numbers: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        for seed in range(given.first, given.first + given.count):
            at = case(given.kind, seed, Path(place))
            if why_not(at.program) is not None:
                numbers["left to the reference"] += 1
                continue
            events, wrong = compare(at, given.backend, given.checked)
            numbers["programs"] += 1
            numbers["stopped"] += events < 0
            numbers["events"] += max(events, 0)
            seen.update(set(constructs(at.program)))
            if wrong:
                numbers["different"] += 1
                print(f"seed {seed}: {wrong}", flush=True)
    print(given.kind, given.backend, f"seeds {given.first} to {given.first + given.count - 1}:", dict(numbers))
    print(", ".join(f"{name} {number}" for name, number in seen.most_common()))


if __name__ == "__main__":
    main()
