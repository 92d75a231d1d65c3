"""Sessions that wait for ever while others go on: no mean is falsified by them, and none is given up without them."""

import pytest
from timed_programs import PROGRAMS

from serq.compare.laws import with_distributions
from serq.compare.three_way import CheckOptions, three_way
from serq.ir.expr import Number
from serq.pipeline import SimulateOptions, SolveOptions, explore_chain, load_text, solve
from serq.semantics.solve import stationary
from serq.semantics.starvation import crowded

YOUNGEST_FIRST = """
    stage svc : fifo;
    pool reqs { cap 1; queue by (-serial); }
    workload { arrive closed(3); }
    session { loop { set t0 = now; hold reqs (1) { run svc (~exp(1)); } observe response = now - t0; } }
"""
"""Who has just been served asks again at once, and the others are older."""

LIFE = """
    stage engine : step { budget 1; cost 1; }
    pool reqs { cap 2; }
    workload { arrive closed(2); }
    session { hold reqs (1) { loop { set t0 = now; run engine decode (2); observe response = now - t0; } } }
"""
"""Who was admitted first stands first for ever, and takes the whole budget."""

BESIDE = """
    stage engine : step { budget 1; cost 1; }  stage think : delay;
    pool life { cap 2; }
    workload { arrive closed(3); }
    session {
      branch (queued(life) < 2) {
        hold life (1) { loop { set t0 = now; run engine decode (2); observe response = now - t0; } }
      } else { loop { run think (~exp(3)); } }
    }
"""
"""The same beside somebody who thinks for exponential times."""


def estimates(text: str, laws: bool = False) -> dict[str, tuple[Number | None, str]]:
    program = load_text(text).program
    found = solve(program)
    found = with_distributions(found, program, SolveOptions()) if laws else found
    return {e.measure: (e.value, e.reason) for e in found.estimates}


@pytest.mark.parametrize(
    ("text", "line", "mean", "waits"),
    [(YOUNGEST_FIRST, 5, 1, "pool.reqs.queue_wait"), (LIFE, 5, 2, "stage.engine.sojourn")],
)
def test_a_mean_is_that_of_those_who_are_served(text: str, line: int, mean: int, waits: str) -> None:
    found = estimates(text)
    for measure in (waits, "observe.response.mean"):
        assert found[measure] == (
            None, f"a session waits for ever at line {line} while others go on, and Little's law counts it",
        )  # fmt: skip
    assert estimates(text, laws=True)["observe.response.mean"][0] == mean


def test_the_check_agrees() -> None:
    for text in (YOUNGEST_FIRST, LIFE, BESIDE):
        options = CheckOptions(SimulateOptions(horizon=3000.0, warmup=50.0, replications=2))
        table = three_way(load_text(text).program, options).agreement
        assert table.agrees, [row for row in table.rows if row.verdict == "disagrees"]
        assert table.compared >= 6
        assert any("waits for ever" in row.exact.reason for row in table.rows if row.exact is not None)


SATURATED = {
    "first come first served": (YOUNGEST_FIRST.replace("queue by (-serial);", ""), 3),
    "keys by chance": (
        YOUNGEST_FIRST.replace("-serial", "k").replace("set t0 = now;", "set t0 = now; set k = ~bernoulli(0.5);"), 3,
    ),
    "in the order of joining": (LIFE.replace("hold reqs (1) { loop", "branch (1) { loop"), 4),
}  # fmt: skip


@pytest.mark.parametrize("name", SATURATED)
def test_where_everybody_is_served_little_is_right(name: str) -> None:
    text, mean = SATURATED[name]
    found = estimates(text)
    assert found["observe.response.mean"] == (mean, "")
    assert estimates(text, laws=True)["observe.response.second"][0] is not None


def test_most_programs_need_no_search() -> None:
    for name, text in PROGRAMS.items():
        program = load_text(text).program
        chain = explore_chain(program)
        solution = stationary(chain, exact=False, source=program.source)
        assert not crowded(program, chain, solution), name
    program = load_text(SATURATED["first come first served"][0]).program
    chain = explore_chain(program)
    assert not crowded(program, chain, stationary(chain, exact=True))
    program = load_text(LIFE).program
    chain = explore_chain(program)
    assert crowded(program, chain, stationary(chain, exact=True)).stages == (0,)
