"""Columns of rationals and sparse rows, by example and against sums one by one; and chains in arrays as any others."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq import models
from serq.exporters.columns import Column, Rows
from serq.exporters.drn import drn_text
from serq.exporters.explicit import Explicit
from serq.exporters.explored import LARGEST_MAP, explored
from serq.exporters.packed_chain import packed
from serq.exporters.umb import umb_bytes
from serq.pipeline import explore_chain, load
from serq.semantics.explore import ExploreOptions, explore

RATIONALS = st.fractions(max_denominator=10**25)


@given(st.lists(st.lists(RATIONALS, max_size=5), max_size=8))
def test_sums_are_exact_however_long_the_numbers(stretches: list[list[Fraction]]) -> None:
    begin = np.cumsum([0, *map(len, stretches)])
    column = Column.of(x for stretch in stretches for x in stretch)
    assert column.sums(begin) == [sum(stretch, Fraction(0)) for stretch in stretches]


def test_sums_of_machine_words_may_wrap_around_on_the_way() -> None:
    large = Fraction(2**61)
    column = Column.of([large] * 9 + [-large])
    assert column.sums(np.arange(11)) == [large] * 9 + [-large]


def test_a_row_without_anything_gets_a_loop() -> None:
    rows = Rows.of([{1: Fraction(2)}, {}, {0: Fraction(1, 3), 2: Fraction(1, 2)}, {}])
    assert rows.empty().tolist() == [1, 3]
    assert rows.looped() == [{1: 2}, {1: 1}, {0: Fraction(1, 3), 2: Fraction(1, 2)}, {3: 1}]
    assert rows.looped().sums() == [2, 1, Fraction(5, 6), 1]
    assert rows.extended({2: Fraction(7)})[4] == {2: 7}


@pytest.mark.parametrize(("name", "sets"), [("lru", {"N": "7", "C": "4", "Z": "7/3"}), ("tandem", {"N": "6"})])
def test_a_chain_in_arrays_is_written_as_one_of_objects(name: str, sets: dict[str, str]) -> None:
    model = models.find(name)
    assert model is not None
    chain = explore(load(model.path, sets).program, ExploreOptions(explorer="compiled"))
    assert packed(chain) is not None
    plain = replace(
        chain,
        transitions=tuple(chain.transitions),
        state_rewards={reward: tuple(chain.state_rewards[reward]) for reward in chain.state_rewards},
    )
    assert packed(plain) is None
    fast, slow = explored(chain), explored(plain)
    assert fast.rates == slow.rates
    assert fast.rewards == slow.rewards
    assert drn_text(fast) == drn_text(slow)
    assert umb_bytes(fast) == umb_bytes(slow)
    assert Explicit().emit(chain, "x") == Explicit().emit(plain, "x")


def test_what_each_state_is_stands_in_the_map_of_a_chain_that_somebody_can_read() -> None:
    model = models.find("mm1n")
    assert model is not None
    chain = explore_chain(load(model.path, {"N": str(LARGEST_MAP)}).program)
    text = Explicit().emit(chain, "x")["x.map.json"]
    assert f'"size": {LARGEST_MAP + 1}' in text
    assert '"states": []' in text
