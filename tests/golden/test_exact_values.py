"""Rationals from an independent exploration of the same programs, and from closed forms where those exist."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from timed_programs import SLOTTED

from serq import models, pipeline
from serq.ir.program import Run
from serq.semantics.counterfactual import Counterfactual
from serq.studies.event import counterfactual, price_of_event, with_event

VALUES = Path(__file__).parents[1] / "data" / "values"
PROGRAMS = VALUES / "programs"
ENTRIES: list[dict[str, Any]] = json.loads((VALUES / "exact.json").read_text("utf-8"))

SOLVED = {
    "mm1n.sq", "mmcn.sq", "ps.sq", "tandem.sq", "lru.sq", "lru_ps.sq", "lru_slot_pin.sq", "lru_slot_key.sq",
    "lru_sizes.sq",
}  # fmt: skip


def title(entry: dict[str, Any]) -> str:
    if "case" in entry:
        return str(entry["case"])
    return entry["program"] + "".join(f" {name}={value}" for name, value in entry["set"].items())


PROGRAM_ENTRIES = [entry for entry in ENTRIES if entry.get("program") in SOLVED]
REPAIR_ENTRIES = [entry for entry in ENTRIES if entry.get("case", "").startswith("M/G/1//N X, work ")]


def solve(path: Path, sets: dict[str, Any]) -> pipeline.Solved:
    linked = pipeline.load(path, {name: str(value) for name, value in sets.items()})
    return pipeline.solve(linked.program, pipeline.SolveOptions(exact=True))


def second_moment(solved: pipeline.Solved, path: Path, sets: dict[str, Any], observe: str) -> Any:
    """By the chain of a tagged session, whose mean must be the one that Little's law gives."""
    linked = pipeline.load(path, {name: str(value) for name, value in sets.items()})
    law = pipeline.distributions(linked.program, pipeline.SolveOptions(exact=True)).laws[observe]
    assert law.moment(1) == values(solved)[f"observe.{observe}.mean"]
    assert law.rate == values(solved)[f"observe.{observe}.rate"]
    return law.moment(2)


def values(solved: pipeline.Solved) -> dict[str, Any]:
    return {estimate.measure: estimate.value for estimate in solved.estimates}


@pytest.mark.parametrize("home", ["data", "shipped"])
@pytest.mark.parametrize("entry", PROGRAM_ENTRIES, ids=title)
def test_an_entry_that_names_a_program(entry: dict[str, Any], home: str) -> None:
    file = entry["program"]
    shipped = models.find(file.removesuffix(".sq"))
    assert shipped is not None
    path = PROGRAMS / file if home == "data" else shipped.path
    solved = solve(path, entry["set"])
    found, right = values(solved), dict(entry["values"])

    assert solved.chain.size <= right.pop("states")
    assert solved.recurrent <= right.pop("recurrent")
    if "hit" in right:
        assert found["observe.hit.mean"] == Fraction(right.pop("hit"))
        assert found["observe.hit.mean"] * found["observe.hit.rate"] == Fraction(right.pop("hit_rate"))
    if "X" in right:
        assert found["observe.response.rate"] == Fraction(right.pop("X"))
        response = Fraction(right.pop("R"))
        assert found["observe.response.mean"] == response
        check_number_and_wait(file, found, response)
    if "R2" in right:
        assert second_moment(solved, path, entry["set"], "response") == Fraction(right.pop("R2"))
    assert not right


def check_number_and_wait(file: str, found: dict[str, Any], response: Fraction) -> None:
    """What the listed values imply by Little's law and by subtraction of the mean work, in exact arithmetic."""
    places = ("stage.prefill.number", "stage.decode.number", "stage.svc.number", "pool.kv.queue", "pool.slots.queue")
    assert sum(found[place] for place in places if place in found) == response * found["observe.response.rate"]
    if file == "mm1n.sq":
        assert found["stage.svc.wait"] == response - 1
        assert found.get("observe.wait.mean", response - 1) == response - 1


@pytest.mark.parametrize("entry", REPAIR_ENTRIES, ids=title)
def test_a_finite_source_with_general_work(entry: dict[str, Any]) -> None:
    case = entry["case"].removeprefix("M/G/1//N X, work ")
    law, rest = case[: case.rindex(")") + 1], case[case.rindex(")") + 2 :]
    text = (PROGRAMS / "mgn.sq").read_text("utf-8")
    assert text.count("~erlang(2, m)") == 1
    sets = dict(part.strip().split("=") for part in rest.split(","))
    program = pipeline.load_text(text.replace("~erlang(2, m)", law), "mgn.sq", sets).program
    found = values(pipeline.solve(program, pipeline.SolveOptions(exact=True)))
    assert found["observe.response.rate"] == Fraction(entry["values"])
    assert found["stage.svc.utilisation"] == Fraction(entry["values"])


def test_the_first_token_of_the_tandem() -> None:
    right = {entry["case"]: entry["values"] for entry in ENTRIES if "case" in entry}["tandem N=3 ttft"]
    solved = solve(PROGRAMS / "tandem.sq", {"N": 3})
    assert values(solved)["observe.ttft.mean"] == Fraction(right["mean"])
    assert second_moment(solved, PROGRAMS / "tandem.sq", {"N": 3}, "ttft") == Fraction(right["second"])


MISS_ENTRIES = [entry for entry in ENTRIES if entry.get("case", "").startswith("one miss ")]
PRICE_ENTRIES = [entry for entry in ENTRIES if entry.get("case", "").startswith("price of a hit turned miss, lru ")]
SLOTTED_ENTRIES = [entry for entry in ENTRIES if entry.get("case", "").startswith("slotted step ")]
EXACT = pipeline.SolveOptions(exact=True)

ONE_MISS = """
    let N = 2;
    stage svc : fifo;  stage think : delay;
    pool turn { cap 1; }
    workload { arrive closed(N); }
    session { loop {
      set t0 = now;
      hold turn (1) { run svc (~exp(1)); }
      observe response = now - t0;
      run think (~exp(4));
    } }
"""
"""Hits of mean work 1 alone; whoever is in service holds the turn, so the miss is made at the start of service."""


@pytest.mark.parametrize("entry", MISS_ENTRIES, ids=title)
def test_the_price_of_one_miss(entry: dict[str, Any]) -> None:
    sessions = entry["case"].split("N=")[1].split()[0]
    sets, right = {"N": sessions}, entry["values"]
    program = pipeline.load_text(ONE_MISS, "miss.sq", sets).program
    priced = price_of_event(program, sets, "work := ~exp(3)", "8", EXACT)
    assert priced.present == Fraction(right["extra_sojourn"])
    assert priced.price.rewards["pool.turn.queue"] == Fraction(right["extra_waiting"])
    assert -priced.price.measures["observe.response.rate"] == Fraction(right["lost_turns"])
    by_number = [Fraction(x) for x in right["by_n"]]
    assert priced.by_number == dict(enumerate(by_number[: max(1, len(by_number) - 1)], 1))
    changed = pipeline.load_text(with_event(program, "work := ~exp(3)", "8"), "miss.sq", sets).program
    found = counterfactual(changed, EXACT)
    waiting, served = (found.chain.state_rewards[name] for name in ("pool.turn.queue", "stage.svc.number"))
    present = [w + n for w, n in zip(waiting, served, strict=True)]
    assert by_bias(found, present, present) == by_number
    assert by_bias(found, waiting, present) == [Fraction(x) for x in right["waiting_by_n"]]


def by_bias(found: Counterfactual, reward: list[Fraction], present: list[Fraction]) -> list[Fraction]:
    """Howard's differences of biases between a miss and a hit in service, by the number present, from 1 on.

    No service begins with everybody present, but it can be asked what a miss would cost there.
    """
    _, bias = found.deviation.bias(reward)
    out = []
    for n in range(1, int(max(present)) + 1):
        (hit,) = (g for g, m, p in zip(bias, present, found.solution.probabilities, strict=True) if m == n and p)
        (miss,) = (g for g, m, p in zip(bias, present, found.solution.probabilities, strict=True) if m == n and not p)
        out.append(miss - hit)
    return out


@pytest.mark.parametrize("entry", PRICE_ENTRIES, ids=title)
def test_the_price_of_a_hit_turned_miss(entry: dict[str, Any]) -> None:
    sets = dict(part.split("=") for part in entry["case"].removeprefix("price of a hit turned miss, lru ").split())
    program = pipeline.load(PROGRAMS / "lru.sq", sets).program
    hit = next(step.span for step in program.code if isinstance(step, Run))
    priced = price_of_event(program, sets, "work := ~exp(s_miss)", f"{hit.line}:{hit.column}", EXACT)
    assert priced.present == Fraction(entry["values"])


@pytest.mark.parametrize("entry", SLOTTED_ENTRIES, ids=title)
def test_a_slotted_step_stage(entry: dict[str, Any]) -> None:
    """By the language alone: residents beyond the budget wait, and who ends in a slot leaves before it is filled up."""
    sets = dict(part.split("=") for part in entry["case"].removeprefix("slotted step ").split())
    program = pipeline.load_text(SLOTTED, "slotted.sq", sets).program
    found = values(pipeline.solve(program, EXACT))
    assert found["observe.response.rate"] == Fraction(entry["values"]["X"])
    assert found["stage.engine.number"] == Fraction(entry["values"]["L"])


def test_every_entry_is_solved_here() -> None:
    groups = (PROGRAM_ENTRIES, REPAIR_ENTRIES, MISS_ENTRIES, PRICE_ENTRIES, SLOTTED_ENTRIES)
    solved = {title(entry) for group in groups for entry in group} | {"tandem N=3 ttft"}
    assert solved == {title(entry) for entry in ENTRIES}
    named = {key for entry in ENTRIES if isinstance(entry["values"], dict) for key in entry["values"]}
    priced = {"extra_sojourn", "by_n", "extra_waiting", "waiting_by_n", "lost_turns", "L"}
    assert named == {"states", "recurrent", "X", "R", "R2", "hit", "hit_rate", "mean", "second"} | priced
