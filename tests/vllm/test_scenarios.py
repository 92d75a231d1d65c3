"""Step for step what the vLLM scheduler did, on every recorded scenario that a program keyed by session can state.

The synchronous scheduler as shipped, and the asynchronous one, which is vLLM's default, by `plan ahead`.

Compared per step: who was scheduled, with how many tokens, in which order; admissions with their hits, new or resumed;
the victims; the blocks evicted, one by one; the free blocks. Per request: the steps of its first and last token.
"""

from pathlib import Path

import pytest
from replaying import diagnostics
from scenarios import RECORDED, Scenario, ours, program_of, recorded, run, theirs, token_steps, workload

from serq.replays import replay_compiled
from serq.semantics.replay import ReplayOptions
from serq.semantics.step_log import Step
from serq.traces.reader import read_trace

_SHARED = (
    "requests of different sessions hold or hit the same blocks; the language would need blocks that are known by "
    "their content, or a prefix that sessions share, with a count of its holders"
)

UNSTATED = {
    "abort": "requests are cancelled by their client; the language would need a hold that a session, or its patience, "
    "can end from outside",
    "dup_blocks": f"{_SHARED}, and two entries of one content",
    "dup_choice": f"{_SHARED}, and two entries of one content",
    "hit_counts_against_free": _SHARED,
    "mixed6": _SHARED,
    "random60": _SHARED,
    "random61": _SHARED,
    "same_step_share": f"{_SHARED}, known from the moment at which they are scheduled",
}
"""Scenarios that the language cannot state, why, and what it would need."""

ASYNC = RECORDED.with_name("vllm_async")
UNSTATED_ASYNC = {"same_step_share": UNSTATED["same_step_share"]}

ALL = sorted(path.stem for path in RECORDED.glob("*.json"))
ALL_ASYNC = sorted(path.stem for path in ASYNC.glob("*.json"))
STATED_ASYNC = [name for name in ALL_ASYNC if name not in UNSTATED_ASYNC]
STATED = [name for name in ALL if name not in UNSTATED]


def test_all_but_a_few_scenarios_are_stated() -> None:
    assert len(ALL) == 39
    assert set(UNSTATED) < set(ALL)
    assert len(UNSTATED) < 10
    assert len(ALL_ASYNC) == 10
    assert set(UNSTATED_ASYNC) < set(ALL_ASYNC)


@pytest.mark.parametrize("name", STATED)
def test_every_step_is_the_schedulers(name: str, tmp_path: Path) -> None:
    scenario = recorded(name)
    played = run(scenario, tmp_path)
    assert list(ours(scenario, played.steps)) == list(theirs(scenario))
    assert token_steps(scenario, played) == token_steps(scenario)


@pytest.mark.parametrize("name", STATED_ASYNC)
def test_every_step_is_the_asynchronous_schedulers(name: str, tmp_path: Path) -> None:
    scenario = recorded(name, ASYNC)
    played = run(scenario, tmp_path)
    assert list(ours(scenario, played.steps)) == list(theirs(scenario))
    assert token_steps(scenario, played) == token_steps(scenario)


@pytest.mark.parametrize("name", STATED_ASYNC)
def test_the_asynchronous_scheduler_needs_plan_ahead(name: str, tmp_path: Path) -> None:
    """Without it the same scenarios disagree, but for those in which nobody ends before the others."""
    scenario = recorded(name, ASYNC)
    played = run(scenario | {"config": scenario["config"] | {"async": False}}, tmp_path)
    agrees = list(ours(scenario, played.steps)) == list(theirs(scenario))
    assert agrees == (name in ("single", "evict_order"))


@pytest.mark.parametrize(
    "scenario",
    [*(recorded(name) for name in STATED), *(recorded(name, ASYNC) for name in STATED_ASYNC)],
    ids=[*STATED, *(f"async {name}" for name in STATED_ASYNC)],
)
def test_the_compiled_engine_serves_every_request_alike(scenario: Scenario, tmp_path: Path) -> None:
    """In CPython, with bounds checked: the recorded steps are those of the reference, above."""
    played = run(scenario, tmp_path)
    expected = played.result
    program = program_of(workload(scenario), bool(scenario["config"].get("async")))
    assert program.trace is not None
    corpus = read_trace(tmp_path / "trace.csv", program.trace.columns)
    steps: list[Step] = []
    found = replay_compiled(
        program, corpus, ReplayOptions(strict=True), steps.append, backend="cpython", bounds_checked=True
    )
    assert steps == played.steps
    assert diagnostics(found) == diagnostics(expected)
    assert (found.stuck is not None) == ("stuck" in scenario)
    assert list(found.requests) == list(expected.requests)
    assert (found.time, found.events, found.summary()) == (expected.time, expected.events, expected.summary())


@pytest.mark.parametrize("name", STATED)
def test_who_is_stuck_in_vllm_is_named(name: str, tmp_path: Path) -> None:
    scenario = recorded(name)
    stuck = run(scenario, tmp_path).result.stuck
    assert (stuck is not None) == ("stuck" in scenario)
    if stuck is not None:
        assert stuck.diagnostics[0].code == "SQ516"


@pytest.mark.parametrize("name", sorted(UNSTATED))
def test_an_unstated_scenario_is_not_stated_by_accident(name: str, tmp_path: Path) -> None:
    """A list of exceptions must not outlive its reasons: what it names still disagrees."""
    scenario = recorded(name)
    assert list(ours(scenario, run(scenario, tmp_path).steps)) != list(theirs(scenario))


def test_preempted_requests_keep_what_they_generated(tmp_path: Path) -> None:
    """Not by luck of the scenarios: some were preempted while they decoded, and again, and recomputed the rest only."""
    preempted = [name for name in STATED if any("preempt" in step for step in recorded(name)["steps"])]
    assert len(preempted) > 8
    resumed = [a for name in preempted for s in recorded(name)["summary"].values() for a in s["admissions"][1:]]
    assert any(hit > 0 for _, hit, _ in resumed)


def test_the_two_programs_differ_in_their_orders_only() -> None:
    fcfs = program_of(workload(recorded("preempt")))
    priority = program_of(workload(recorded("priority")))
    assert fcfs.code == priority.code
    assert fcfs.stages == priority.stages
    assert [p.preempt for p in fcfs.pools] == ["lifo", "none"]
    assert [p.preempt for p in priority.pools] == ["by", "none"]
