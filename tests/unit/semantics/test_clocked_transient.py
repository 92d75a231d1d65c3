"""Programs of clocks before their steady state: powers of a matrix by hand, paths one by one, closed forms."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from timed_programs import PROGRAMS, SEMI_MARKOV, SLOTTED

from serq.base.errors import LimitError
from serq.ir.chain import Chain
from serq.ir.program import Program
from serq.pipeline import SolveOptions, load_text
from serq.semantics.clocked_transient import at_instant
from serq.studies.passing import Passing, passing


def asked(text: str, time: float | None, until: str | None = None, initial: str | None = None) -> Passing:
    program: Program = load_text(text).program
    return passing(program, time, initial, until, SolveOptions())


def two_sessions(q: float, p: float) -> np.ndarray:
    """From n at the engine to m there, tick by tick, if one at a time is served."""
    return np.array(
        [
            [(1 - p) ** 2, 2 * p * (1 - p), p**2],
            [q * (1 - p), q * p + (1 - q) * (1 - p), (1 - q) * p],
            [0.0, q, 1 - q],
        ]
    )


@pytest.mark.parametrize("time", [0.0, 0.5, 1.0, 7.0, 7.99, 400.0])
def test_powers_by_hand(time: float) -> None:
    """At an instant at which clocks ring it is as after them; what happens then is what happens in that slot."""
    found = {e.measure: e for e in asked(SLOTTED, time).estimates}
    here = np.array([0.0, 0.0, 1.0]) @ np.linalg.matrix_power(two_sessions(0.25, 0.125), int(time))
    number, rate = found["stage.engine.number"], found["observe.response.rate"]
    assert number.bound is not None
    assert number.value == pytest.approx(here @ [0, 1, 2], abs=number.bound + 1e-15)
    assert rate.value == pytest.approx(0.25 * (here[1] + here[2]), abs=1e-13)
    assert number.bound < 1e-12
    assert number.method == "from instant to instant"
    assert found["observe.response.mean"].value is None


def occupied(chain: Chain) -> Callable[[int, Fraction], dict[int, Fraction]]:
    """Where a chain is some time after it has entered a state, path by path, in rationals."""
    assert chain.embedded is not None
    held = chain.embedded.holding
    ways: dict[int, list[tuple[int, Fraction]]] = {i: [] for i in range(chain.size)}
    for t in chain.transitions:
        ways[t.source].append((t.target, t.rate * held[t.source]))

    @cache
    def at(state: int, time: Fraction) -> dict[int, Fraction]:
        if time < held[state] or not ways[state]:
            return {state: Fraction(1)}
        out: dict[int, Fraction] = {}
        for target, chance in ways[state]:
            for place, share in at(target, time - held[state]).items():
                out[place] = out.get(place, Fraction(0)) + chance * share
        return out

    return at


@pytest.mark.parametrize("name", ["costs", "arrivals by the clock", "two step stages"])
def test_stays_of_several_lengths_path_by_path(name: str) -> None:
    chain = asked(PROGRAMS[name], 0.0).chain
    at = occupied(chain)
    start = [Fraction(0)] * chain.size
    for state, chance in chain.initial:
        start[state] = chance
    for time in (0.0, 0.3, 1.0, 1.25, 6.5):
        right = np.zeros(chain.size)
        for state, chance in chain.initial:
            for place, share in at(state, Fraction(time)).items():
                right[place] += float(chance * share)
        found = at_instant(chain, start, time)
        assert np.abs(found.probabilities - right).sum() <= found.bound + 1e-15


ENDING = """
    stage engine : step { budget 4; cost 0.5; }
    workload { arrive batch(2); }
    session { run engine decode (~geometric(0.25)); }
"""


def test_until_everybody_has_gone() -> None:
    """The longer of two geometric numbers of steps of 1/2: mean 2/q - 1/(1 - (1 - q)^2) of them."""
    found = asked(ENDING, 3.0, "sessions.number == 0")
    assert found.mean_time == Fraction(1, 2) * (8 - Fraction(16, 7))
    assert found.chance == pytest.approx((1 - 0.75**6) ** 2, abs=1e-14)
    assert found.chance_bound is not None
    assert found.chance_bound < 1e-13
    assert asked(ENDING, 2.99, "sessions.number == 0").chance == pytest.approx((1 - 0.75**5) ** 2, abs=1e-14)


def test_from_states_as_they_are_entered() -> None:
    """With one at the engine the other thinks for 8 slots; until both are there: by the two equations of its chain."""
    q, p = Fraction(1, 4), Fraction(1, 8)
    found = asked(SLOTTED, None, "stage.engine.number == 2", "stage.engine.number == 1")
    # m1 = 1 + q(1-p) m0 + (qp + (1-q)(1-p)) m1,  m0 = 1 + (1-p)^2 m0 + 2p(1-p) m1
    a, b = q * (1 - p), q * p + (1 - q) * (1 - p)
    c, d = (1 - p) ** 2, 2 * p * (1 - p)
    assert found.mean_time == (1 + a / (1 - c)) / (1 - b - a * d / (1 - c))


def test_beside_exponential_times_there_is_no_answer() -> None:
    with pytest.raises(LimitError, match="exponential events beside its clocks"):
        asked(SEMI_MARKOV.replace("N = 6", "N = 2"), 3.0)


def test_too_many_instants() -> None:
    with pytest.raises(LimitError, match="too many to follow"):
        asked(SLOTTED, 1e9)
