"""Step for step what the vLLM v1 scheduler did, on the recorded scenarios that have no sharing between sessions.

The clock is the step number: an iteration lasts 1. A request whose prompt begins like an earlier one's is a later turn
of that session. Compared per step: who was scheduled, with how many tokens, in which order; admissions with their hits;
the victims; the blocks evicted; the free blocks after scheduling. Left out are scenarios of what serQ does not have:
blocks shared by two sessions, aborts, the priority policy, watermarks, and requests that serQ rejects or stops with an
error.
"""

import json
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from toy import Played, play

VECTORS = Path(__file__).parents[3] / "shared" / "vectors" / "vllm"

SCENARIOS = [
    "cascade", "chunk_cap", "end_keeps_cache", "evict_order", "forced_miss", "hol_blocking", "isl_overcommit",
    "longchunk", "model_len_cap", "never_whole_prompt", "no_admission_after_preempt", "no_cache", "partial_hit",
    "preempt", "prefix_hit_next_turn", "request_cap", "reserve_full_isl", "reserve_full_isl_off", "resume_full_isl",
    "self_preempt", "single", "two_same_step", "zero_budget_wait",
]  # fmt: skip

PROGRAM = """
pool reqs {{ cap {max_num_seqs}; queue by (arrived, serial); admit via engine; }}
pool kv {{ cap {usable}; block {size}; preempt lifo; }}
stage engine : step {{ budget {max_num_batched_tokens}; cost 1; chunk {long_prefill_token_threshold}; memory kv; }}
stage gate : delay;
workload {{ arrive batch({sessions}); trace "in_memory.csv" ordered; }}
session {{
  loop {{
    turn;
    run gate (think - now);
    set arrived = now;  set prompt = new;  set common = forced;
    hold reqs (1),
         kv (min(max(prompt, computed + 1),
                 min(cachedin(kv), floor(min(computed > 0 ? inf : common, max(prompt - 1, computed)) / {size}) * {size})
                 + min(budget_left(engine), {chunk})))
            {reserve}
         reuse (floor(min(computed > 0 ? inf : common, max(prompt - 1, computed)) / {size}) * {size}) {{
      set known = max(prompt, computed + 1);
      run engine prefill (known - cached) growing kv;
      run engine decode (prompt + out - 1 - known) growing kv;
    }} {cache}
    branch (more) {{ }} else {{ end; }}
  }}
}}
"""


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_step_is_the_schedulers(name: str) -> None:
    scenario = json.loads((VECTORS / f"{name}.json").read_text())
    sessions = _sessions(scenario)
    played = _run(scenario, sessions)
    assert _ours(scenario, sessions, played) == _theirs(scenario, sessions)


def _sessions(scenario: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The requests by session: one whose prompt begins like an earlier one's continues that session."""
    sessions: dict[str, list[dict[str, Any]]] = {}
    arrival = {r["id"]: scenario["summary"][r["id"]]["arrival"] for r in scenario["requests"]}
    for request in sorted(scenario["requests"], key=lambda r: arrival[r["id"]]):
        prompt = request.get("prompt") or [[request["id"], request["prompt_len"]]]
        tokens = [(segment, i) for segment, length in prompt for i in range(length)]
        out = min(request["output"], scenario["config"]["max_model_len"] - len(tokens))
        content = tokens + [(f"out:{request['id']}", i) for i in range(out)]
        turns = sessions.setdefault(prompt[0][0], [])
        before = turns[-1]["content"] if turns else []
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, tokens, strict=False)))
        turn = {"new": len(tokens), "out": out, "think": arrival[request["id"]], "forced": common}
        turns.append({"id": request["id"], "content": content, "turn": {k: float(v) for k, v in turn.items()}})
    return list(sessions.values())


def _run(scenario: dict[str, Any], sessions: list[list[dict[str, Any]]]) -> Played:
    config = scenario["config"]
    text = PROGRAM.format(
        **config,
        size=config["block_size"],
        usable=config["usable_blocks"] * config["block_size"],
        sessions=len(sessions),
        chunk=config["long_prefill_token_threshold"] or "inf",
        reserve="reserve (max(prompt, computed + 1))" if config["reserve_full_isl"] else "",
        cache="cache (prompt + out - 1);" if config["enable_prefix_caching"] else "",
    )
    return play(text, turns=[[request["turn"] for request in session] for session in sessions])


def _theirs(scenario: dict[str, Any], sessions: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    owner = {request["id"]: s for s, session in enumerate(sessions) for request in session}
    return [
        {
            "step": step["step"],
            "sched": [(owner[i], tokens) for i, tokens in step["sched"]],
            "admit": [(owner[i], hit) for i, hit, _ in step.get("admit", [])],
            "preempt": [owner[i] for i in step.get("preempt", [])],
            "evict": [_block(sessions, owner[i], block) for i, block, *_ in step.get("evict", [])],
            "free": step["free_sched"],
        }
        for step in scenario["steps"]
        if step.get("sched")
    ]


def _ours(scenario: dict[str, Any], sessions: list[list[dict[str, Any]]], played: Played) -> list[dict[str, Any]]:
    size, usable = scenario["config"]["block_size"], scenario["config"]["usable_blocks"]
    return [
        {
            "step": time,
            "sched": [(serial, tokens) for serial, _, tokens in jobs],
            "admit": [(s, hit) for t, _, _, s, hit in played.log.of("admitted") if t == time],
            "preempt": [s for t, _, _, s in played.log.of("preempted") if t == time],
            "evict": _evictions(sessions, played, time, size),
            "free": usable - used[1] / size,
        }
        for time, _, _, jobs, used in played.log.of("iteration")
    ]


def _evictions(sessions: list[list[dict[str, Any]]], played: Played, time: float, size: int) -> list[Any]:
    """The evicted blocks one by one, each entry from its tail."""
    out = []
    for when, _, _, owner, units, rest, _ in played.log.of("evicted"):
        if when == time:
            out += [
                _block(sessions, owner, block)
                for block in reversed(range(int(rest / size), int((rest + units) / size)))
            ]
    return out


def _block(sessions: list[list[dict[str, Any]]], owner: int, block: int) -> Any:
    """A block by its session and, where there was one turn only, its place in the content."""
    return (owner, block if len(sessions[owner]) == 1 else None)
