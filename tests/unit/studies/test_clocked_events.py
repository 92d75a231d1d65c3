"""The price of one event in slots and in semi-Markov programs: a closed form, and the event made rare."""

from fractions import Fraction

import pytest
from timed_programs import PROGRAMS, SLOTTED

from serq.base.errors import LimitError
from serq.ir.expr import Number
from serq.pipeline import SimulateOptions, SolveOptions, load_text, solve
from serq.studies.event import PricedEvent, price_of_event
from serq.studies.event_price import EventQuestion, answer_event

ALONE = """
    stage engine : step { budget 4; cost 1; }  stage think : delay;
    workload { arrive closed(1); }
    session { loop {
      set t0 = now;
      run engine decode (2);
      observe response = now - t0;
      run think (~geometric(0.25));
    } }
"""


def priced(text: str, event: str, at: str | None = None) -> PricedEvent:
    return price_of_event(load_text(text).program, {}, event, at, SolveOptions())


def measures(text: str) -> dict[str, Number]:
    return {e.measure: e.value for e in solve(load_text(text).program).estimates if e.value is not None}


def test_one_session_alone() -> None:
    """Two slots more: all of it in that turn; in the long run a part is thought less, Z / (Z + 2) = 2/3 of it stays."""
    found = priced(ALONE, "work := 4", "6")
    assert found.present == Fraction(4, 3)
    assert found.price.rate == Fraction(1, 6)
    assert found.price.measures["observe.response.mean"] == 2
    assert found.price.measures["observe.response.rate"] == Fraction(-1, 3)


DECODE, LOST = "run engine decode (~geometric(q));", "} cache (4);"
RARE = Fraction(1, 10**7)
EVENTS = {
    "slotted": ("work := 3", "8:7", DECODE, f"branch (1 - 1e-7) {{ {DECODE} }} else {{ run engine decode (3); }}"),
    "cache": ("entry lost", None, LOST, f"{LOST} branch (1e-7) {{ drop kv; }}"),
}


@pytest.mark.parametrize("name", EVENTS)
def test_the_same_by_making_the_event_rare(name: str) -> None:
    """In rationals, and in doubles where exponential times run beside: there a difference of 1e-7 leaves few digits."""
    event, at, old, new = EVENTS[name]
    text = PROGRAMS[name]
    assert text.count(old) == 1
    found = priced(text, event, at)
    before, after = measures(text), measures(text.replace(old, new))
    close = 1e-6 if isinstance(found.present, Fraction) else 1e-5
    for measure in ("observe.response.rate", "stage.engine.number", "stage.engine.utilisation", "stage.think.number"):
        rise = float(after[measure] - before[measure]) / float(RARE)
        assert rise == pytest.approx(float(found.price.measures[measure] * found.price.rate), rel=close), measure
    share = found.price.rate / before["observe.response.rate"]
    rise = float(after["observe.response.mean"] - before["observe.response.mean"]) / float(RARE)
    assert rise == pytest.approx(float(found.price.measures["observe.response.mean"] * share), rel=close)


def test_an_event_that_happens_while_a_clock_runs() -> None:
    with pytest.raises(LimitError, match="while a clock runs"):
        priced(PROGRAMS["cache"], "reuse := 0")


def test_pairs_of_runs_agree_in_slots() -> None:
    """Shorter decoding of one request: the chain and pairs of runs, at a family-wise false-alarm rate of 1e-3."""
    simulation = SimulateOptions(seed=2, replications=60, horizon=600.0, warmup=50.0)
    asked = EventQuestion("work := 1", "8:7", ("exact", "sim", "closed"), SolveOptions(), simulation, 60.0)
    found = answer_event(load_text(SLOTTED).program, {}, asked)
    assert found.agrees
    assert found.agreement.compared >= 8
    assert {f.reason for f in found.formulas} == {"a request that decodes shares its iterations with others"}


def test_what_is_the_same_in_all_states_costs_nothing_in_doubles_too() -> None:
    program = load_text(SLOTTED, overrides={"N": "5", "B": "2"}).program
    found = price_of_event(program, {"N": "5", "B": "2"}, "work := 3", "8:7", SolveOptions(exact=False))
    assert isinstance(found.present, float)
    assert found.price.measures["sessions.number"] == 0.0
