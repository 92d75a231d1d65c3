"""Chains of programs with clocks as Storm reads them: in discrete time, with the same rationals."""

from fractions import Fraction

import pytest
from timed_programs import PROGRAMS

from serq.base.errors import UsageError
from serq.compare.explicit_files import read_explicit
from serq.compare.storm import drn_job, explicit_job, long_run, run_storm, succeeded, umb_job
from serq.exporters.dot import Dot
from serq.exporters.drn import drn_text
from serq.exporters.explicit import Explicit
from serq.exporters.explored import explored
from serq.exporters.parametric import Parametric
from serq.exporters.umb import umb_bytes
from serq.ir.chain import Chain, Ratio
from serq.pipeline import explore_chain, load_text, solve_chain

EXACT = ["slotted", "two step stages", "arrivals in slots", "slots of a pool"]


def chain_of(name: str) -> Chain:
    return explore_chain(load_text(PROGRAMS[name]).program)


@pytest.mark.parametrize("name", EXACT)
def test_every_format_gives_the_same_rationals(name: str) -> None:
    program = load_text(PROGRAMS[name]).program
    chain = explore_chain(program)
    right = {e.measure: e.value for e in solve_chain(chain, program).estimates}
    ready = explored(chain)
    wanted = [long_run(reward) for reward in ready.rewards]
    jobs = [
        drn_job(drn_text(ready), wanted),
        umb_job(umb_bytes(ready), wanted),
        explicit_job(Explicit("rational").emit(chain, "q"), wanted),
    ]
    for answer in map(succeeded, run_storm(jobs)):
        found = dict(zip(ready.rewards, map(Fraction, answer.values), strict=True))
        for ratio in chain.ratios:
            if isinstance(ratio, Ratio) and right[ratio.measure] is not None:
                names = ready.names
                above = sum(
                    (w * found.get(names.identifier(r, "reward"), Fraction(0)) for w, r in ratio.terms), Fraction(0)
                )
                assert above / found[names.identifier(ratio.per or "time", "reward")] == right[ratio.measure]


def test_probabilities_add_up_although_doubles_stand_for_them() -> None:
    ready = explored(chain_of("semi-Markov"))
    assert ready.discrete
    assert all(sum(row.values()) == 1 for row in ready.rates)
    lines = drn_text(ready).splitlines()
    assert lines[0] == "@type: DTMC"
    assert not any("!" in line for line in lines)


def test_the_files_say_how_measures_are_made() -> None:
    texts = Explicit("rational").emit(chain_of("slotted"), "q")
    assert "// stage.engine.number = stage_engine_number / time_" in texts["q.props"]
    assert '"time": "slots of 1"' in texts["q.map.json"]
    rows: dict[int, Fraction] = {}
    for source, _, rate in read_explicit(texts).transitions:
        rows[source] = rows.get(source, Fraction(0)) + rate
    assert set(rows.values()) == {1}


def test_a_picture_shows_probabilities() -> None:
    assert '[label="49/64", style=dashed]' in Dot().emit(chain_of("slotted"), "q")["q.dot"]


def test_no_rate_stays_open() -> None:
    with pytest.raises(UsageError, match="no rates that could stay open"):
        Parametric().emit(chain_of("slotted"), "q")
