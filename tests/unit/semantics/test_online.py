"""Online estimates: by hand, and the price they make."""

import pytest
from running import run, values

from serq.semantics.online import StageEstimates, WeightedMean

PROGRAM = """stage svc : fifo; workload {{ arrive {arrivals}; }}
session {{ observe rate = est_lambda(svc); observe rho = est_rho(svc); observe wait = est_wait(svc);
  observe price = price(svc, 1, 2); run svc ({work}); end; }} run {{ horizon {horizon}; }}"""


def test_a_weighted_mean_starts_at_its_first_sample():
    mean = WeightedMean()
    assert mean.value == 0
    mean.add(5.0)
    assert mean.value == 5
    mean.add(10.0)
    assert mean.value == pytest.approx(5.05)


def test_steady_arrivals_every_2_with_service_1():
    """In the long run rate 1/2, rho 1/2, wait 0, and the price of 2 more after 1 is 2 + (9 - 1) / 2 / (2 / 2) = 6."""
    result = run(PROGRAM.format(arrivals="renewal(2)", work="1", horizon=20))
    assert values(result, "rate") == [0, 0, *[0.5] * 8]
    assert values(result, "rho") == [0, 0, *[0.5] * 8]
    assert set(values(result, "wait")) == {0}
    assert values(result, "price") == [2, 2, *[6] * 8]


def test_the_present_arrival_is_not_counted():
    """Gaps 1, 2, 3: the third arrival knows the gap between the first two only."""
    result = run(PROGRAM.format(arrivals="renewal(now == 0 ? 1 : now)", work="0.25", horizon=16))
    rates = values(result, "rate")
    assert rates[:3] == [0, 0, 1]
    assert rates[3] == pytest.approx(1 / (1 + 0.01 * (2 - 1)))


def test_waits_and_services_count_when_they_are_over():
    """Three jobs of 3 at times 1, 2, 3: waits 0, 2, 4; the fourth arrival at 4 sees the first one done."""
    result = run(PROGRAM.format(arrivals="renewal(1)", work="3", horizon=8))
    waits = values(result, "wait")
    assert waits[:3] == [0, 0, 0]
    assert waits[7] == pytest.approx(0.01 * 2)  # at 8, the first two are done
    assert values(result, "rho")[7] == 0.99  # at most


def test_gaps_of_0_are_an_infinite_rate():
    stage = StageEstimates()
    stage.arrive(1.0)
    stage.arrive(1.0)
    assert stage.read("est_lambda") == float("inf")
    assert stage.read("est_rho") == 0
    stage.service.add(1.0)
    assert stage.read("est_rho") == 0.99
