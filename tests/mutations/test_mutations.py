"""Every defect of the tables beside this file is put back, and the tests that are meant to find it must fail."""

from dataclasses import replace
from pathlib import Path

import pytest
from mutation import Edit, Mutation, assert_found, assert_passing, assert_recorded, read_table

from serq.semantics.pools import Pools

TABLES = {path.stem: read_table(path) for path in sorted(Path(__file__).parent.glob("*.toml"))}
MUTATIONS = [mutation for table in TABLES.values() for mutation in table]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_with_the_defect_its_tests_fail(mutation: Mutation) -> None:
    assert_found(mutation)


@pytest.mark.parametrize("table", TABLES)
def test_without_the_defects_the_same_tests_pass(table: str) -> None:
    assert_passing(TABLES[table])


@pytest.mark.parametrize("table", TABLES)
def test_the_record_shows_what_they_say(table: str) -> None:
    assert_recorded(TABLES[table])


def test_every_defect_has_a_name_of_its_own() -> None:
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)


CACHED = next(mutation for mutation in MUTATIONS if mutation.name.startswith("cached is"))


def test_a_change_without_effect_is_not_taken_for_a_defect() -> None:
    harmless = Edit("serq.semantics.pools:Pools._admit", "max(consumed)", "max(consumed, default=0)")
    with pytest.raises(AssertionError, match="does not find it"):
        assert_found(replace(CACHED, edits=(harmless,)))


def test_another_failure_than_the_known_one_is_not_enough() -> None:
    with pytest.raises(AssertionError, match="fails otherwise"):
        assert_found(replace(CACHED, failing=dict.fromkeys(CACHED.failing, "assert [2.0] == [6]")))


def test_a_place_that_is_gone_is_named() -> None:
    gone = Edit("serq.semantics.pools:Pools._admit", "minimum(consumed)", "")
    with pytest.raises(AssertionError, match="does not have once"):
        assert_found(replace(CACHED, edits=(gone,)))


def test_afterwards_everything_is_as_before() -> None:
    before = Pools._admit.__code__
    assert_found(CACHED)
    assert Pools._admit.__code__ is before
