"""The chain agrees with rationals that an independent exploration gave (`tests/data/values/exact.json`)."""

import json
import re
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest

from serq.ir.expr import Number
from serq.pipeline import Solved, SolveOptions, load, load_text, solve

VALUES = Path(__file__).parents[1] / "data" / "values"
ENTRIES = json.loads((VALUES / "exact.json").read_text())
PROGRAMS = [entry for entry in ENTRIES if "program" in entry]
LAWS = [entry for entry in ENTRIES if entry.get("case", "").startswith("M/G/1//N")]
EXACT = SolveOptions(exact=True)


def solved(name: str, sets: dict[str, Any]) -> Solved:
    program = load(VALUES / "programs" / name, {k: str(v) for k, v in sets.items()}).program
    return solve(program, EXACT)


def measures(result: Solved) -> dict[str, Number | None]:
    return {estimate.measure: estimate.value for estimate in result.estimates}


@pytest.mark.parametrize("entry", PROGRAMS, ids=lambda entry: f"{entry['program']} {entry['set']}")
def test_program(entry: dict[str, Any]) -> None:
    result = solved(entry["program"], entry["set"])
    found, values = measures(result), entry["values"]
    expected = {k: Fraction(v) for k, v in values.items() if k in ("X", "R", "L", "hit", "hit_rate")}
    assert result.chain.size <= values["states"]
    assert result.recurrent <= values["recurrent"]
    given = {
        "X": found.get("observe.response.rate"),
        "R": found.get("observe.response.mean"),
        "L": found.get("stage.svc.number"),
        "hit": found.get("observe.hit.mean"),
    }
    if "hit_rate" in expected:
        given["hit_rate"] = Fraction(given["hit"]) * Fraction(found["observe.hit.rate"])
    assert {k: given[k] for k in expected} == expected
    if "X" in expected:
        # Little's law over the whole response, another way to the same number
        population = entry["set"].get("N")
        think = Fraction(found["stage.think.sojourn"])
        assert population == expected["X"] * (expected["R"] + think)


def test_time_to_first_token_has_a_region_of_its_own() -> None:
    entry = next(e for e in ENTRIES if e.get("case") == "tandem N=3 ttft")
    assert measures(solved("tandem.sq", {"N": 3}))["observe.ttft.mean"] == Fraction(entry["values"]["mean"])


MGN = (VALUES / "programs" / "mgn.sq").read_text()


def finite_source(work: str, population: int, stage: str = "fifo", think: str = "~exp(Z)") -> Number | None:
    text = MGN.replace("~erlang(2, m)", work).replace("svc : fifo", f"svc : {stage}").replace("~exp(Z)", think)
    program = load_text(text, overrides={"N": str(population)}).program
    return measures(solve(program, EXACT))["observe.response.rate"]


@pytest.mark.parametrize("entry", LAWS, ids=lambda entry: entry["case"])
def test_work_of_phase_type(entry: dict[str, Any]) -> None:
    work, population = re.search(r"work (.*), N=(\d+), Z=4", entry["case"]).groups()
    assert finite_source(work, int(population)) == Fraction(entry["values"])


def takacs(population: int, transforms: list[Fraction]) -> Fraction:
    """Throughput of M/G/1//N with mean work 1 and think time 4; `transforms[i]` is the work's transform at i / 4.

    L. Takacs, Introduction to the Theory of Queues (1962), chapter 5: the mean busy period is
    m sum_n C(N-1, n) prod_{i <= n} (1 / psi(i / Z) - 1).
    """
    busy, product = Fraction(0), Fraction(1)
    for n in range(population):
        product *= 1 if n == 0 else 1 / transforms[n] - 1
        busy += comb(population - 1, n) * product
    return busy / (busy + Fraction(4, population))


@pytest.mark.parametrize("phases", [1, 2, 3, 5])
@pytest.mark.parametrize("population", [1, 2, 4, 6])
def test_takacs(phases: int, population: int) -> None:
    transforms = [(1 / (1 + Fraction(i, 4) / phases)) ** phases for i in range(population)]
    assert finite_source(f"~erlang({phases}, m)", population) == takacs(population, transforms)


@pytest.mark.parametrize(
    ("stage", "value"), [("ps(1)", "39/71"), ("ps(n / (1 + (n - 1) / 2))", "153/266"), ("delay", "3/5")]
)
def test_sharing_and_delay_do_not_see_the_law(stage: str, value: str) -> None:
    """Baskett, Chandy, Muntz, Palacios, J. ACM 22 (1975): only means matter at ps and delay stages."""
    for work in ("~exp(m)", "~erlang(2, m)", "~h2(m, 17 / 8)"):
        for think in ("~exp(Z)", "~erlang(2, Z)"):
            assert finite_source(work, 3, stage, think) == Fraction(value)


def test_a_cache_sees_the_law_of_thinking() -> None:
    text = (VALUES / "programs" / "lru.sq").read_text()
    rates = []
    for think in ("~exp(Z)", "~erlang(2, Z)"):
        program = load_text(text.replace("~exp(Z)", think), overrides={"N": "3", "C": "2"}).program
        rates.append(measures(solve(program, EXACT))["observe.response.rate"])
    assert rates == [Fraction(33827, 88901), Fraction(36891934907, 103102856997)]


@pytest.mark.parametrize(("sessions", "cap"), [(2, 1), (3, 2), (4, 2), (4, 3)])
def test_claiming_memory_late_changes_nothing_for_a_unit_lru(sessions: int, cap: int) -> None:
    """With one server, whether a session hits is decided when it arrives: at service start it claims the same."""
    early, late = (measures(solved(f"{name}.sq", {"N": sessions, "C": cap})) for name in ("lru", "lru_slot"))
    for name in ("observe.response.rate", "observe.response.mean", "observe.hit.mean"):
        assert early[name] == late[name]


@pytest.mark.parametrize("sessions", range(1, 9))
def test_wait_and_response_of_the_finite_source(sessions: int) -> None:
    """MVA: Q_0 = 0, Q_{n+1} = (n+1)(1+Q_n) / (c+1+Q_n), wait of the n-th = Q_{n-1} (arrival theorem)."""
    found = measures(solved("mm1n.sq", {"N": sessions, "mu": 1, "Z": 4}))
    jobs = Fraction(0)
    for n in range(sessions):
        wait, jobs = jobs, (n + 1) * (1 + jobs) / (4 + 1 + jobs)
    assert found["observe.wait.mean"] == found["stage.svc.wait"] == wait
    assert found["observe.response.mean"] == found["stage.svc.sojourn"] == wait + 1
    assert found["stage.svc.number"] == jobs


def test_eight_sessions() -> None:
    found = measures(solved("mm1n.sq", {"N": 8, "mu": 1, "Z": 4}))
    assert found["stage.svc.number"] == Fraction(69372, 16831)
    assert found["stage.svc.throughput"] == Fraction(16319, 16831)
    assert found["observe.response.mean"] == Fraction(69372, 16319)
