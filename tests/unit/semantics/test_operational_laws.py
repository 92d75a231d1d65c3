from dataclasses import replace
from fractions import Fraction

import hand_chains
import pytest

from serq.ir.results import Estimate
from serq.semantics.answers import answers
from serq.semantics.operational_laws import laws, with_laws
from serq.semantics.solve import stationary


def station(exact=True):
    chain = hand_chains.finite_source(6)
    return answers(chain, stationary(chain, exact=exact))


@pytest.mark.parametrize("exact", [True, False])
def test_every_law_is_checked_and_holds(exact):
    found = laws(station(exact))
    assert [law.text.removeprefix("stage.svc: ") for law in found] == [
        "number = waiting + busy",
        "number = throughput * sojourn",
        "waiting = throughput * wait",
        "busy = throughput * (sojourn - wait)",
        "utilisation is in [0, 1]",
    ]
    assert all(law.holds for law in found)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("statistic", "broken"),
    [("number", 2), ("waiting", 2), ("busy", 2), ("throughput", 3), ("wait", 2), ("sojourn", 2)],
)
def test_a_wrong_answer_breaks_the_laws_it_is_part_of(exact, statistic, broken):
    off = Fraction(10**6 + 1, 10**6)
    name = f"stage.svc.{statistic}"
    wrong = [replace(e, value=e.value * off) if e.measure == name else e for e in station(exact)]
    assert sum(not law.holds for law in laws(wrong)) == broken


def test_a_utilisation_above_one_is_noticed():
    over = Estimate("stage.svc.utilisation", "exact", Fraction(1001, 1000), "by hand")
    assert [law.holds for law in laws([over])] == [False]


def test_littles_law_for_a_pools_queue():
    def pool(queue):
        values = {"queue": queue, "admissions": Fraction(1, 2), "queue_wait": Fraction(3)}
        return [Estimate(f"pool.kv[0].{s}", "exact", v, "by hand") for s, v in values.items()]

    assert [law.holds for law in laws(pool(Fraction(3, 2)))] == [True]
    assert [law.holds for law in laws(pool(Fraction(2)))] == [False]


def test_answers_without_a_value_are_left_out():
    missing = [replace(e, value=None) if e.measure.endswith("wait") else e for e in station()]
    assert len(laws(missing)) == 3


def test_the_solution_says_whether_the_laws_hold():
    chain = hand_chains.finite_source(6)
    solution = stationary(chain, exact=True)
    assert with_laws(solution, station()).checks[-1].startswith("all 5 operational laws")
    wrong = [replace(e, value=2 * e.value) if e.measure == "stage.svc.wait" else e for e in station()]
    assert with_laws(solution, wrong).checks[-1] == (
        "2 of 5 operational laws FAIL: stage.svc: waiting = throughput * wait; "
        "stage.svc: busy = throughput * (sojourn - wait)"
    )
    assert with_laws(solution, []) == solution
