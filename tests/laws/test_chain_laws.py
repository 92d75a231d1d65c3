"""Laws that every chain keeps, whatever the program: time has no unit, nobody is lost, pools are never overfull."""

import re
from fractions import Fraction

import pytest
from chain_programs import PROGRAMS
from finite_programs import finite_program
from lumping import assert_every_row_adds_up

from serq.ir import program as p
from serq.ir.chain import Chain
from serq.pipeline import SolveOptions, load_text, solve
from serq.semantics.explore import explore
from serq.semantics.records import Quotients

STEADY = [name for name in PROGRAMS if name not in ("batch", "arrays")]


def answers(text: str) -> dict[str, Fraction | None]:
    estimates = solve(load_text(text).program, SolveOptions(exact=True)).estimates
    return {e.measure: None if e.value is None else Fraction(e.value) for e in estimates}


def slower(text: str) -> str:
    """The program with every amount of time doubled."""
    text = re.sub(r"~(exp|erlang|h2)\(", r"2 * ~\1(", text)
    return re.sub(r"poisson\(([\d.]+)\)", r"poisson(\1 / 2)", text)


TIMES = ("wait", "sojourn", "queue_wait")
RATES = ("throughput", "admissions", "evictions", "evicted_units", "preemptions", "rejections", "losses", "rate")


@pytest.mark.parametrize("name", STEADY)
def test_time_has_no_unit(name: str) -> None:
    before, after = answers(PROGRAMS[name]), answers(slower(PROGRAMS[name]))
    for measure, value in before.items():
        kind, statistic = measure.split(".")[0], measure.split(".")[-1]
        if value is None or (kind == "observe" and statistic == "mean"):
            continue
        factor = 2 if statistic in TIMES else Fraction(1, 2) if statistic in RATES else 1
        assert after[measure] == factor * value, measure


def reward(chain: Chain, name: str) -> tuple[Fraction, ...]:
    return chain.state_rewards[name]


@pytest.mark.parametrize("name", [n for n in PROGRAMS if "grow kv" not in PROGRAMS[n]])
def test_everybody_is_somewhere(name: str) -> None:
    program = load_text(PROGRAMS[name]).program
    chain = explore(program)
    places = [f"stage.{s.name}.number" for s in program.stages] + [f"pool.{m.name}.queue" for m in program.pools]
    for state in range(chain.size):
        assert sum(reward(chain, place)[state] for place in places) == reward(chain, "sessions.number")[state]
    if isinstance(program.arrivals, p.Closed):
        assert set(reward(chain, "sessions.number")) == {p.whole(program.arrivals.population)}


@pytest.mark.parametrize("name", [n for n in PROGRAMS if "pool" in PROGRAMS[n]])
def test_pools_are_never_overfull(name: str) -> None:
    program = load_text(PROGRAMS[name]).program
    chain = explore(program)
    for pool in program.pools:
        held = zip(reward(chain, f"pool.{pool.name}.used"), reward(chain, f"pool.{pool.name}.cached"), strict=True)
        totals = {used + cached for used, cached in held}
        assert min(totals) >= 0
        assert max(totals) <= pool.cap.exact


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_fifo_serves_whoever_it_can(name: str) -> None:
    program = load_text(PROGRAMS[name]).program
    chain = explore(program)
    for stage in program.stages:
        if isinstance(stage.kind, p.Fifo):
            present, busy, waiting = (reward(chain, f"stage.{stage.name}.{x}") for x in ("number", "busy", "waiting"))
            servers = p.whole(stage.kind.servers)
            for n, b, w in zip(present, busy, waiting, strict=True):
                assert (b, w) == (min(n, servers), max(n - servers, 0))


FULL = Quotients(symmetry=False, dead_values=False, service_order=False, pinned_ranks=False)


LARGE = {2, 8, 12}
"""Seeds of which the full chain has thousands of states (8: infinitely many, as it counts in a dead attribute)."""


@pytest.mark.parametrize("seed", sorted(set(range(28)) - LARGE))
def test_generated_programs_are_lumped_exactly(seed: int) -> None:
    assert_every_row_adds_up(load_text(finite_program(seed).text).program, FULL)
