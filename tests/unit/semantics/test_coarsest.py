from fractions import Fraction
from pathlib import Path

import pytest

from serq.ir.chain import Ratio
from serq.pipeline import load
from serq.semantics.answers import answers
from serq.semantics.coarsest import coarsest, lumping_report
from serq.semantics.explore import ExploreOptions, explore
from serq.semantics.generator import merged_rates
from serq.semantics.records import Quotients
from serq.semantics.solve import stationary

LUMPED = Quotients()
VALUES = Path(__file__).parents[2] / "data" / "values" / "programs"


def chain_of(name, quotients=LUMPED, **sets):
    program = load(VALUES / f"{name}.sq", {k: str(v) for k, v in sets.items()}).program
    return explore(program, ExploreOptions(quotients=quotients))


@pytest.mark.parametrize(
    ("name", "sets", "states", "fewer"),
    [
        ("mm1n", {"N": 6}, 7, 7),
        ("tandem", {"N": 4}, 15, 15),
        ("lru", {"N": 4, "C": 2}, 15, 15),
        ("lru_slot", {"N": 4, "C": 2}, 20, 16),
    ],
)
def test_whether_fewer_states_would_do(name, sets, states, fewer):
    """Sorted records are the coarsest form of these, but not where those who wait own prefixes that can be evicted."""
    chain = chain_of(name, **sets)
    found = coarsest(chain)
    assert (chain.size, found.size) == (states, fewer)


def test_without_symmetry_the_coarsest_lumping_finds_the_symmetric_chain():
    """Partition refinement knows nothing of sessions, and finds that they are interchangeable."""
    full = chain_of("mm1n", Quotients(symmetry=False, service_order=False), N=4)
    assert full.size > 5
    assert coarsest(full).size == chain_of("mm1n", N=4).size == 5


def test_the_blocks_are_a_lumping_and_keep_the_measures():
    chain = chain_of("lru_slot", N=4, C=3)
    found = coarsest(chain)
    assert found.size < chain.size
    rows = merged_rates(chain)
    sums = {}
    for i, row in enumerate(rows):
        into = {}
        for j, rate in row.items():
            if found.block[i] != found.block[j]:
                into[found.block[j]] = into.get(found.block[j], Fraction(0)) + rate
        assert sums.setdefault(found.block[i], into) == into
    for name in {n for r in chain.ratios if isinstance(r, Ratio) for _, n in r.terms}:
        vector = chain.reward_rates(name)
        assert len({(found.block[i], vector[i]) for i in range(chain.size)}) == found.size
    assert answers(chain, stationary(chain, exact=True))


def test_the_report():
    assert lumping_report(chain_of("mm1n", N=3))[-1] == "no chain of fewer than these 4 states keeps all the measures"
    assert "would do for the measures in place of" in lumping_report(chain_of("lru_slot", N=4, C=3))[-1]
    assert lumping_report(chain_of("mm1n", N=3))[0].startswith("lumped: sessions are interchangeable")
    large = chain_of("mm1n", N=2500)
    assert lumping_report(large)[-1] == "a coarser chain is looked for up to 2000 states; this one has 2501"
