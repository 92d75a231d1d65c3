"""The same program through the peer interpreter `pyserq`: a mechanical change of spelling, and a run in a subprocess.

The peer reads a near-identical language. `respell` rewrites what it spells otherwise, node by node, and refuses what it
does not have. It runs apart from the tests because it can hang, and it panics where others raise.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import accumulate
from typing import Any

from serq.base.source import SourceFile, Span
from serq.syntax import ast
from serq.syntax.parser import parse

CONTEXT = {
    "n": "present",
    "nres": "residents",
    "ndec": "decoders",
    "kvb": "kv_decode",
    "kvp": "kv_prefill",
    "ntok": "tokens",
    "npre": "prefilled",
    "attn": "attention",
    "queued": "waiting",
}
"""Context variables: short form here, long form there."""


class SpellingError(Exception):
    """The program uses something that the peer does not have."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the peer. `program` is in the peer's spelling; `dump` asks for every observation."""

    program: str
    seed: int = 1
    horizon: float | None = None
    warmup: float | None = None
    sets: Mapping[str, float] = field(default_factory=dict)
    dump: bool = False


def run(jobs: Sequence[Job], timeout: float = 60.0) -> list[dict[str, Any]]:
    """The peer's reports, in the order of the jobs; with `dump` each observe has its list of `rows`.

    Raises subprocess.TimeoutExpired when the peer hangs and RuntimeError with its message when it refuses a program.
    """
    request = json.dumps([{f.name: getattr(job, f.name) for f in fields(job)} for job in jobs])
    done = subprocess.run(
        [sys.executable, __file__], input=request, capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[-2000:])
    answer: list[dict[str, Any]] = json.loads(done.stdout)
    return answer


def respell(text: str, sets: Mapping[str, float] | None = None) -> str:
    """The program as the peer spells it. `sets` are the constants given from outside: array sizes must be numbers."""
    module = parse(SourceFile("program.sq", text))
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    return _Speller(text, starts, _sizes(module, sets or {})).all(module)


def _sizes(module: ast.Module, sets: Mapping[str, float]) -> dict[str, float]:
    lets = {i.name: float(i.value.value) for i in module.items if isinstance(i, ast.Let) and _is_number(i.value)}
    return lets | dict(sets)


def _is_number(node: ast.Expr) -> bool:
    return isinstance(node, ast.Number) and node.value is not None


@dataclass(frozen=True)
class _Speller:
    text: str
    starts: list[int]
    sizes: dict[str, float]

    def all(self, module: ast.Module) -> str:
        edits = sorted(edit for item in module.items for edit in self._edits(item, ()))
        out, at = [], 0
        for start, end, new in edits:
            assert start >= at, f"two changes of spelling overlap at {self.text[start:end]!r}"
            out += [self.text[at:start], new]
            at = end
        return "".join([*out, self.text[at:]])

    def _edits(self, node: Any, parents: tuple[Any, ...]) -> Iterator[tuple[int, int, str]]:
        new = self._change(node, parents)
        if new is not None:
            yield new
            return
        if isinstance(node, ast.Branch) and not self._of(node.span).removeprefix("branch").lstrip().startswith("with"):
            after = self._place(node.span)[0] + len("branch")
            yield after, after, " with"
        for child in _children(node):
            yield from self._edits(child, (*parents, node))

    def _change(self, node: Any, parents: tuple[Any, ...]) -> tuple[int, int, str] | None:
        match node:
            case ast.Name(name=name) if parents and getattr(parents[-1], "size", None) is node:
                return self._at(node.span, f"{self.sizes[name]:.0f}")
            case ast.Name(name=name) if name in CONTEXT and parents and isinstance(parents[0], ast.Stage | ast.Pool):
                return self._at(node.span, CONTEXT[name])
            case ast.Call(name="queue"):
                return self._at(node.span, f"({self._of(node.span)} - busy({self._args(node)[0]}))")
            case ast.Draw(law="geometric"):
                (p,) = self._args(node)
                return self._at(node.span, f"(1 + floor(ln(1 - ~uniform(0, 1)) / ln(1 - {p})))")
            case ast.Draw(law="choice"):
                return self._at(node.span, _chain_of_tests(self._args(node)))
            case ast.StepOption(name="decode" | "exclusive"):
                return self._at(node.span, f"serve {self._of(node.span)}")
            case ast.Pool() if any(getattr(o, "name", "") == "pin" for o in node.options):
                return self._at(node.span, self._unpinned(node))
            case ast.Gauge():
                return self._at(node.span, "")
            case ast.Arrive(kind="trace"):
                return self._at(node.span, f"arrive batch({_sessions_of_the_trace(parents[-1])});")
        _refuse_what_the_peer_lacks(node)
        return None

    def _unpinned(self, pool: ast.Pool) -> str:
        """`pin waiting` has no counterpart; evicting waiting owners last is the nearest."""
        out = [f"pool {pool.name} {{"]
        for option in pool.options:
            match option:
                case ast.PoolOption(name="pin"):
                    continue
                case ast.PoolOption(name="evict", word="lru"):
                    out.append("evict by (waiting, last);")
                case ast.PoolOption(name="evict"):
                    out.append(f"evict by (waiting, {', '.join(self._of(v.span) for v in option.values)});")
                case _:
                    out.append(self._of(option.span))
        return " ".join([*out, "}"])

    def _args(self, node: ast.Call | ast.Draw) -> list[str]:
        return [self._of(arg.span) for arg in node.args]

    def _of(self, span: Span) -> str:
        start, end = self._place(span)
        return self.text[start:end]

    def _at(self, span: Span, new: str) -> tuple[int, int, str]:
        return (*self._place(span), new)

    def _place(self, span: Span) -> tuple[int, int]:
        return self.starts[span.line - 1] + span.column - 1, self.starts[span.end_line - 1] + span.end_column - 1


def _children(node: Any) -> Iterator[Any]:
    for f in fields(node):
        value = getattr(node, f.name)
        for child in value if isinstance(value, tuple) else (value,):
            if is_dataclass(child):
                yield child


def _refuse_what_the_peer_lacks(node: Any) -> None:
    match node:
        case ast.Arrive(limit=limit) if limit is not None:
            raise SpellingError("the peer has no limit on arrivals")
        case ast.Trace(columns=columns) if columns:
            raise SpellingError("the peer has no further columns of a trace")
        case ast.PoolOption(name="preempt", word="by"):
            raise SpellingError("the peer has no order of victims")
        case ast.StepOption(name="plan"):
            raise SpellingError("the peer plans no iteration ahead")
        case ast.Binary(op="%"):
            raise SpellingError("the peer has no remainder")


def _sessions_of_the_trace(workload: ast.Workload) -> int:
    """How many sessions the workload's trace has; its path must lead there from here."""
    path = next(item.path for item in workload.items if isinstance(item, ast.Trace))
    with open(path, encoding="utf-8") as file:
        return len({line.split(",")[0] for line in file}) - 1


def _chain_of_tests(args: Sequence[str]) -> str:
    """`~choice(a: p, b: q, c: r)` as tests one after the other."""
    values, weights = args[::2], args[1::2]
    out = values[-1]
    for i in range(len(values) - 2, -1, -1):
        rest = " + ".join(f"({w})" for w in weights[i:])
        out = f"(~bernoulli(({weights[i]}) / ({rest})) ? {values[i]} : {out})"
    return out


def _main() -> None:
    import pyserq

    reports = []
    for job in json.load(sys.stdin):
        given = {k: job[k] for k in ("seed", "horizon", "warmup") if job[k] is not None}
        result = pyserq.run(pyserq.compile(source=job["program"], sets=job["sets"], **given))
        report = json.loads(result.json())
        for name, observe in report["observes"].items():
            got = result.observe(name)
            observe["min"], observe["max"] = min(got.samples, default=None), max(got.samples, default=None)
            if job["dump"]:
                observe["rows"] = list(zip(got.times, got.sessions, got.turns, got.samples, strict=True))
        reports.append(report)
    json.dump(reports, sys.stdout)


if __name__ == "__main__":
    _main()
