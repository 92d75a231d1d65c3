"""Scenarios recorded from the vLLM scheduler, as workloads of the shipped programs, and what both sides did.

The clock is the number of the step. A request whose prompt begins like an earlier one's is a later turn of that
session: the cache is keyed by session. Requests are named SESSION.TURN, sessions numbered in the order of the file.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from serq.ir.program import Program
from serq.pipeline import load, load_text
from serq.semantics.replay import Replayed, ReplayOptions, replay
from serq.semantics.step_log import Step
from serq.syntax.reader import read_source
from serq.traces.reader import read_trace

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models" / "serving"
RECORDED = ROOT / "tests" / "data" / "vllm"

Scenario = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """A scenario as a trace: its rows, the request's name by the recorded id, and the constants to set."""

    rows: list[dict[str, Any]]
    names: dict[str, str]
    sets: dict[str, float]
    model: str

    @property
    def text(self) -> str:
        """The trace file."""
        columns = [name for name in self.rows[0] if name != "priority" or "priority" in self.model]
        lines = [",".join(str(row[name]) for name in columns) for row in self.rows]
        return "\n".join([",".join(columns), *lines]) + "\n"


def recorded(name: str, folder: Path = RECORDED) -> Scenario:
    """A scenario by its name."""
    scenario: Scenario = json.loads((folder / f"{name}.json").read_text())
    return scenario


def workload(scenario: Scenario) -> Workload:
    """The scenario's requests as sessions, its configuration as constants."""
    sessions: dict[str, list[tuple[Any, ...]]] = {}
    rows, names = [], {}
    for place, request in enumerate(_in_order(scenario)):
        tokens = [(segment, i) for segment, length in _prompt(request) for i in range(length)]
        turns = sessions.setdefault(_prompt(request)[0][0], [])
        before = turns[-1] if turns else ()
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, tokens, strict=False)))
        out = min(request["output"], scenario["config"]["max_model_len"] - len(tokens))
        turns.append((*tokens, *((f"out:{request['id']}", i) for i in range(out))))
        session = list(sessions).index(_prompt(request)[0][0])
        names[request["id"]] = f"{session}.{len(turns)}"
        rows.append(
            {"session": session, "turn": len(turns), "new": len(tokens), "out": request["output"], "think": 0}
            | {"arrived": _arrival(scenario, request), "common": common, "place": place}
            | {"start": _arrival(scenario, request), "priority": request.get("priority", 0)}
        )
    model = "vllm_priority" if scenario["config"]["policy"] == "priority" else "vllm_request"
    return Workload(rows, names, _constants(scenario["config"]), model)


def _in_order(scenario: Scenario) -> list[dict[str, Any]]:
    """The requests in the order of arrival; those of one step as listed, under the priority policy by their ids."""
    by_id = scenario["config"]["policy"] == "priority"
    return sorted(scenario["requests"], key=lambda r: (_arrival(scenario, r), r["id"] if by_id else ""))


def _arrival(scenario: Scenario, request: dict[str, Any]) -> int:
    arrival: int = scenario["summary"][request["id"]]["arrival"]
    return arrival


def _prompt(request: dict[str, Any]) -> list[tuple[str, int]]:
    return request.get("prompt") or [(request["id"], request["prompt_len"])]


def _constants(config: dict[str, Any]) -> dict[str, float]:
    return {
        "B": config["max_num_batched_tokens"],
        "max_seqs": config["max_num_seqs"],
        "bs": config["block_size"],
        "blocks": config["usable_blocks"],
        "chunk": config["long_prefill_token_threshold"],
        "max_len": config["max_model_len"],
        "caching": int(config["enable_prefix_caching"]),
        "reserve_whole": int(config["reserve_full_isl"]),
        "watermark": int(config["watermark"] * config["num_gpu_blocks"]),
    }


@dataclass(frozen=True)
class Run:
    """What our program did."""

    steps: list[Step]
    result: Replayed


def program_of(load_: Workload, ahead: bool = False) -> Program:
    """The shipped program with the scenario's constants; `ahead`: its engine plans ahead."""
    path = MODELS / f"{load_.model}.sq"
    if not ahead:
        return load(path, dict(load_.sets)).program
    text = read_source(path).text
    assert text.count("cost 1;") == 1
    return load_text(text.replace("cost 1;", "cost 1; plan ahead;"), overrides=dict(load_.sets)).program


def run(scenario: Scenario, folder: Path) -> Run:
    """Replay a scenario, in checked mode; `folder` is where its trace is written."""
    load_ = workload(scenario)
    program = program_of(load_, bool(scenario["config"].get("async")))
    path = folder / "trace.csv"
    path.write_text(load_.text)
    assert program.trace is not None
    steps: list[Step] = []
    options = ReplayOptions(checked=True, strict=True)
    result = replay(program, read_trace(path, program.trace.columns), options, steps.append)
    return Run(steps, result)


def theirs(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """The recorded steps that scheduled anything, in our names."""
    names = workload(scenario).names
    seen: set[str] = set()
    for step in scenario["steps"]:
        if not step.get("sched"):
            continue
        admitted = [(names[i], hit, kind == "resumed") for i, hit, kind in step.get("admit", [])]
        assert all((name in seen) == resumed for name, _, resumed in admitted)
        seen |= {name for name, _, _ in admitted}
        yield {
            "step": step["step"],
            "scheduled": [(names[i], tokens) for i, tokens in step["sched"]],
            "admitted": admitted,
            "preempted": [names[i] for i in step.get("preempt", [])],
            "evicted": [_block(names, i, block) for i, block, *_ in step.get("evict", [])],
            "free": step["free_sched"],
        }


def ours(scenario: Scenario, steps: list[Step]) -> Iterator[dict[str, Any]]:
    """The steps of our run that scheduled anything."""
    names = workload(scenario).names
    seen: set[str] = set()
    for step in steps:
        if not step.scheduled:
            continue
        admitted = [(name, hit, name in seen) for name, hit in step.admitted]
        seen |= {name for name, _, _ in admitted}
        blocks = [(s, b) for s, first, end in step.evicted for b in reversed(range(int(first), int(end)))]
        yield {
            "step": step.start,
            "scheduled": list(step.scheduled),
            "admitted": admitted,
            "preempted": list(step.preempted),
            "evicted": [(s, b if _has_one_turn(names, s) else None) for s, b in blocks],
            "free": step.free,
        }


def _block(names: dict[str, str], request: str, block: int) -> tuple[str, int | None]:
    """A block by its session and, where there was one turn only, its place in the content."""
    session = names[request].partition(".")[0]
    return session, block if _has_one_turn(names, session) else None


def _has_one_turn(names: dict[str, str], session: str) -> bool:
    return sum(name.partition(".")[0] == session for name in names.values()) == 1


def token_steps(scenario: Scenario, run_: Run | None = None) -> dict[str, tuple[float | None, float | None]]:
    """The steps of the first and of the last token of each request: recorded, or of our run."""
    load_ = workload(scenario)
    if run_ is None:
        return {load_.names[i]: (s["first_token"], s["last_token"]) for i, s in scenario["summary"].items()}
    last: dict[str, float] = {}
    for step in run_.steps:
        last |= {name: step.start for name, _ in step.scheduled}
    first = {r.name: None if r.first is None else r.first - 1 for r in run_.result.requests}
    names = load_.names.values()
    return {n: (first.get(n), None if first.get(n) is None else last[n]) for n in names}
