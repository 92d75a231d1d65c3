"""Chains before their steady state: against exponentials of small matrices and formulas, within the stated bounds."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hand_chains import finite_source, make_chain
from scipy.linalg import expm

from serq.base.errors import LimitError, NoSteadyStateError, UsageError
from serq.pipeline import SolveOptions, load_text
from serq.semantics.generator import merged_rates
from serq.semantics.predicates import states_where
from serq.semantics.transient import at_time
from serq.semantics.uniformisation import poisson_weights
from serq.studies.passing import passing


@pytest.mark.parametrize("time", [0.0, 0.01, 1.0, 30.0])
def test_against_the_exponential_of_the_matrix(time: float) -> None:
    rows = merged_rates(finite_source(6))
    matrix = np.zeros((7, 7))
    for i, row in enumerate(rows):
        for j, rate in row.items():
            matrix[i, j] = float(rate)
            matrix[i, i] -= float(rate)
    start = [Fraction(1), *[Fraction(0)] * 6]
    found = at_time(rows, start, time)
    right = expm(matrix * time)[0]
    assert found.probabilities == pytest.approx(right, abs=1e-13)
    assert np.abs(found.probabilities - right).sum() <= found.bound + 1e-13
    assert found.bound < 1e-12


def test_the_weights_add_up() -> None:
    for mean in (0.0, 1e-6, 0.3, 40.0, 1e5):
        weights = poisson_weights(mean)
        assert weights.values.sum() == pytest.approx(1.0, abs=1e-9)
        assert weights.tail < 1e-15
    with pytest.raises(LimitError, match="too stiff"):
        poisson_weights(1e7)


FAILING = """
    let a = 2;
    stage d : delay;
    workload { arrive batch(2); }
    session { run d (~exp(a)); }
"""


def test_sessions_that_end_one_by_one() -> None:
    """Two lifetimes of mean 2: the number alive is binomial, and the last is gone after 2 (1 + 1/2) on average."""
    found = passing(load_text(FAILING).program, 3.0, None, "sessions.number == 0", SolveOptions())
    values = {e.measure: e.value for e in found.estimates}
    alive = exp(-1.5)
    assert values["sessions.number"] == pytest.approx(2 * alive, rel=1e-13)
    assert values["sessions.throughput"] == pytest.approx(alive, rel=1e-13)
    assert values["stage.d.sojourn"] is None
    assert found.mean_time == 3
    assert found.chance == pytest.approx((1 - alive) ** 2, rel=1e-12)
    assert found.chance_bound is not None
    assert found.chance_bound < 1e-13


QUEUE = """
    stage svc : fifo;  stage think : delay;
    workload { arrive closed(2); }
    session { loop { run think (~exp(2)); set k = ~choice(1: 1, 3: 1); observe class = k; run svc (~exp(1)); } }
"""


def test_from_a_set_of_states() -> None:
    """From one job, as likely as it is in the long run, to none: 1 + (probability of a second first) ..."""
    program = load_text(QUEUE).program
    found = passing(program, None, "stage.svc.number == 1", "stage.svc.number == 0", SolveOptions())
    # h_1 = 1 / (1 + 1/2) + (1/3) h_2 with h_2 = 1 + h_1
    assert found.mean_time == Fraction(3, 2)
    assert found.estimates == ()
    assert found.chance is None
    later = passing(program, 100.0, "stage.svc.number == 2 and stage.think.number < 1", None, SolveOptions())
    values = {e.measure: e.value for e in later.estimates}
    assert values["stage.svc.number"] == pytest.approx(0.8, rel=1e-12)
    assert values["observe.class.mean"] == pytest.approx(2, rel=1e-12)


@pytest.mark.parametrize(
    ("time", "initial", "until", "said"),
    [
        (None, None, None, "say which time"),
        (-1.0, None, None, "0 or more"),
        (1.0, "stage.svc.numbr > 1", None, "did you mean `stage.svc.number`"),
        (1.0, "stage.svc.number", None, "a set of states is"),
        (1.0, "stage.svc.number > 1/0", None, "is no number"),
        (1.0, "stage.svc.number > 5", None, "there is no state in which"),
    ],
)
def test_bad_questions(time: float | None, initial: str | None, until: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        passing(load_text(QUEUE).program, time, initial, until, SolveOptions())


def test_a_set_of_states_needs_a_long_run_to_begin_in() -> None:
    with pytest.raises(NoSteadyStateError):
        passing(load_text(FAILING).program, 1.0, "sessions.number == 1", None, SolveOptions())


def test_comparisons() -> None:
    chain = make_chain([{1: 1}, {2: 1}, {0: 1}], rewards={"a": [0, 1, 2], "b[0].x": [1, 1, 0]})
    assert states_where(chain, "a >= 1") == {1, 2}
    assert states_where(chain, "a != 1 and b[0].x == 1") == {0}
    assert states_where(chain, "a < 3/2 && a > 0.5") == {1}
