from fractions import Fraction

import hand_chains
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.ir.chain import Ratio, Unmapped
from serq.semantics import solve
from serq.semantics.answers import answers, distribution, long_run_rates, marginal
from serq.semantics.solve import stationary

make = hand_chains.make_chain


def by_name(chain, *, exact=True):
    return {e.measure: e for e in answers(chain, stationary(chain, exact=exact))}


def test_the_finite_source_queue_answers_in_rationals():
    found = by_name(hand_chains.finite_source(8))
    assert found["stage.svc.number"].value == Fraction(69372, 16831)
    assert found["stage.svc.throughput"].value == Fraction(16319, 16831)
    assert found["stage.svc.sojourn"].value == Fraction(69372, 16319)
    assert all(e.is_exact and e.witness == "exact" and e.bound is None for e in found.values())


def test_answers_keep_the_order_of_the_ratios():
    chain = hand_chains.finite_source(2)
    assert [e.measure for e in answers(chain, stationary(chain, exact=True))] == [r.measure for r in chain.ratios]


def test_weights_add_up():
    chain = make(
        [{1: 1}, {0: 3}],
        rewards={"a": [1, 0], "b": [0, 2]},
        ratios=[
            Ratio("m", ((Fraction(2), "a"), (Fraction(-1, 3), "b"))),
            Ratio("q", ((Fraction(1), "a"),), "b"),
            Ratio("none", ()),
        ],
    )
    found = by_name(chain)
    assert found["m"].value == 2 * Fraction(3, 4) - Fraction(1, 3) * Fraction(1, 2)
    assert found["q"].value == Fraction(3, 4) / Fraction(1, 2)
    assert found["none"].value == 0


def test_impulses_count_on_parallel_transitions_and_self_loops():
    chain = make(
        [{1: 1, 0: 5}, {0: 3}],
        impulses={(0, 0): {"hit": Fraction(1)}, (0, 1): {"hit": Fraction(2), "miss": Fraction(1)}},
        ratios=[Ratio("hits", ((Fraction(1), "hit"),)), Ratio("misses", ((Fraction(1), "miss"),))],
    )
    found = by_name(chain)
    assert found["hits"].value == Fraction(3, 4) * (5 + 2)
    assert found["misses"].value == Fraction(3, 4)


@pytest.mark.parametrize("exact", [True, False])
def test_an_event_that_never_happens_gives_no_value_but_a_reason(exact):
    chain = make(
        [{1: 1}, {2: 1}, {1: 1}],
        rewards={"n": [0, 1, 1]},
        impulses={(0, 1): {"once": Fraction(1)}},
        ratios=[Ratio("n per once", ((Fraction(1), "n"),), "once"), Ratio("per nothing", (), "nothing")],
    )
    for estimate in by_name(chain, exact=exact).values():
        assert estimate.value is None
        assert "never happens in the long run" in estimate.reason


def test_an_event_too_rare_for_a_double_is_not_said_never_to_happen():
    rows = hand_chains.birth_death([Fraction(1, 10)] * 400, [1] * 400)
    chain = make(rows, rewards={"far": [0] * 400 + [1]}, ratios=[Ratio("m", ((Fraction(1), "far"),), "far")])
    assert by_name(chain)["m"].value == 1
    rare = by_name(chain, exact=False)["m"]
    assert rare.value is None
    assert "too rare for double precision" in rare.reason


def test_what_a_chain_cannot_give_keeps_its_reason():
    chain = make([{}], ratios=[Unmapped("observe.slowdown.mean", "a product of two clocks")])
    (estimate,) = answers(chain, stationary(chain, exact=True))
    assert (estimate.value, estimate.reason) == (None, "a product of two clocks")


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.sampled_from(["gth", "lu"]))
def test_the_bound_of_an_answer_in_doubles_is_true(seed, size, method):
    rows = hand_chains.random_rows(seed, size)
    chain = make(
        rows,
        rewards={"n": range(size), "edge": [0] * (size - 1) + [1]},
        ratios=[
            Ratio("n", ((Fraction(1), "n"), (Fraction(-1, 2), "edge"))),
            Ratio("per", ((Fraction(1), "n"),), "edge"),
        ],
    )
    exact = by_name(chain)
    for estimate in answers(chain, stationary(chain, exact=False, method=method)):
        assert isinstance(estimate.value, float)
        assert estimate.bound is not None
        assert not estimate.is_exact
        want = exact[estimate.measure].value
        assert abs(Fraction(estimate.value) - want) <= Fraction(estimate.bound) < Fraction(1, 10**11) * (1 + abs(want))


def test_without_a_bound_on_the_vector_there_is_none_on_the_answer(monkeypatch):
    monkeypatch.setattr(solve, "error_of", lambda rates, vector, found: None)
    chain = hand_chains.finite_source(400)
    got, want = by_name(chain, exact=False), by_name(chain)
    for name, estimate in got.items():
        assert estimate.bound is None
        assert estimate.value == pytest.approx(float(want[name].value), rel=1e-12)


def test_long_run_rates_by_reward():
    chain = hand_chains.finite_source(3)
    rates = long_run_rates(chain, stationary(chain, exact=True), ["stage.svc.busy", "stage.svc.completions", "unknown"])
    assert rates["stage.svc.busy"].value == rates["stage.svc.completions"].value == Fraction(39, 71)
    assert (rates["unknown"].value, rates["unknown"].possible) == (0, False)


def test_the_distribution_by_readable_state_leaves_transient_states_out():
    chain = make([{1: 1}, {2: 1}, {1: 3}])
    assert distribution(chain, stationary(chain, exact=True)) == {"s1": Fraction(3, 4), "s2": Fraction(1, 4)}


def test_the_distribution_of_the_number_at_a_station():
    """M/M/1//3 with equal rates: 1/16, 3/16, 6/16, 6/16."""
    chain = hand_chains.finite_source(3, think=Fraction(1))
    found = marginal(chain, stationary(chain, exact=True), "stage.svc.number")
    assert found == {0: Fraction(1, 16), 1: Fraction(3, 16), 2: Fraction(6, 16), 3: Fraction(6, 16)}
    assert list(found) == [0, 1, 2, 3]


def test_states_of_one_value_are_taken_together():
    chain = make(hand_chains.tandem(2), rewards={"first": [0, 0, 0, 1, 1, 2]})
    solution = stationary(chain, exact=True)
    found = marginal(chain, solution, "first")
    assert found[Fraction(0)] == sum(solution.probabilities[:3])
    assert sum(found.values()) == 1


def test_a_marginal_of_an_unknown_reward_is_a_key_error():
    chain = hand_chains.finite_source(3)
    with pytest.raises(KeyError):
        marginal(chain, stationary(chain, exact=True), "stage.nowhere.number")
