"""The price of one event from pairs of runs: they differ in that event alone, and agree with the chain on average.

Seeds are fixed. The tables are tested at a family-wise false-alarm rate of 1e-3 each, over four of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from serq.base.errors import OutsideFragmentError, UsageError
from serq.codegen import jit
from serq.models import find
from serq.pipeline import SimulateOptions, SolveOptions, load, load_text
from serq.studies.event_price import EventAnswer, EventQuestion, answer_event
from serq.studies.twin_text import twin
from serq.studies.twins import TwinPrice, look_at, twin_price

MODELS = Path(__file__).parents[3] / "models"
LRU, PRICE = MODELS / "textbook" / "lru.sq", MODELS / "textbook" / "price.sq"
HIT, TURN = "20:30", "17:51"
MISS = "work := ~exp(s_miss)"
REPLICA = """let N = 6; let bs = 4;
pool kv { cap 160; block bs; evict lru; preempt lifo; }
pool reqs { cap 3; admit via engine; }
stage engine : step { budget 16; cost 0.1 + 0.01 * ntok; memory kv; }
stage tool : delay;
workload { arrive closed(N); }
session {
  set prev = 0;
  loop {
    set t0 = now;
    set prompt = 12 + floor(~uniform(0, 20));
    set out = ~geometric(0.2);
    hold reqs (1), kv (min(prompt, min(cachedin(kv), prev) + budget_left(engine))) reuse (min(prev, prompt - 1)) {
      run engine prefill (prompt - cached) growing kv;
      run engine decode (out) growing kv;
    } cache (prompt);
    observe response = now - t0;
    set prev = floor(prompt / bs) * bs;
    run tool (~exp(3));
  }
}
run { horizon 400; warmup 40; seed 1; }
"""
"""A step stage with chunks, a cache and preemption: no chain states it."""


def asked(text_or_path: str | Path, event: str, at: str | None, methods: tuple[str, ...], **options: object):
    sets = options.pop("sets", {})
    follow = options.pop("follow", None)
    program = (
        load_text(text_or_path, "replica.sq", sets) if isinstance(text_or_path, str) else load(text_or_path, sets)
    ).program
    simulation = SimulateOptions(**({"seed": 3, "replications": 50} | options))
    return answer_event(program, sets, EventQuestion(event, at, methods, SolveOptions(), simulation, follow))


# -- against the chain -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["work", "lost", "reuse", "mixed"])
def answer(request: pytest.FixtureRequest) -> EventAnswer:
    cases = {
        "work": (LRU, MISS, HIT, {"N": "3", "C": "2"}),
        "lost": (LRU, "entry lost", None, {"N": "3", "C": "2"}),
        "reuse": (LRU, "reuse := 0", None, {"N": "2", "C": "2"}),
        "mixed": (PRICE, MISS, TURN, {"N": "3"}),
    }
    path, event, at, sets = cases[request.param]
    return asked(path, event, at, ("exact", "sim", "closed"), sets=sets)


def test_pairs_agree_with_the_chain_in_every_measure(answer: EventAnswer) -> None:
    assert answer.agrees
    assert answer.agreement.tests > 12
    present = answer.agreement.rows[0]
    assert present.measure.name == "sessions.present"
    assert abs(present.z) < 3.5
    assert present.simulated.half_width < float(present.exact.value)


def test_the_rate_of_the_event_is_the_chains(answer: EventAnswer) -> None:
    rate = answer.simulated.rate
    assert abs(rate.value - float(answer.exact.price.rate)) < 4.5 * rate.standard_error


def test_formulas_say_what_they_assume(answer: EventAnswer) -> None:
    titles = [f.formula for f in answer.formulas]
    assert titles[:2] == ["extra work alone", "open queue (M/G/1)"]
    assert all(f.value is not None and f.assumes for f in answer.formulas)


def test_where_works_do_not_depend_on_the_past_the_finite_source_formula_is_exact() -> None:
    found = asked(PRICE, MISS, TURN, ("exact", "closed"), sets={"N": "3"})
    by_name = {f.formula: f.value for f in found.formulas}
    exact = float(found.exact.present)
    assert by_name["finite source (M/G/1//N)"] == pytest.approx(exact, rel=0.03)  # from 20 000 works
    assert by_name["extra work alone"] == pytest.approx(2, rel=0.03)
    assert by_name["extra work alone"] < by_name["finite source (M/M/1//N)"] < exact < by_name["open queue (M/G/1)"]
    assert found.simulated is None
    takacs = next(f for f in found.formulas if f.formula == "finite source (M/G/1//N)")
    assert takacs.value is not None
    assert 0 < takacs.error < 0.03 * exact
    assert abs(takacs.value - exact) < 4 * takacs.error  # false alarm 1e-3, and the seed is fixed
    assert "3 sessions, 4 between two visits" in takacs.assumes, "the chain says how long, and no run"


def test_formulas_alone_need_a_horizon_too() -> None:
    text = PRICE.read_text()[: PRICE.read_text().rindex("run {")]
    with pytest.raises(UsageError, match="works that a run shows: give a --horizon"):
        asked(text, MISS, TURN, ("exact", "closed"))


# -- pairs -----------------------------------------------------------------------------------------------------------


def pairs(engine: str, event: str = MISS, at: str | None = HIT, n: int = 6) -> TwinPrice:
    sets = {"N": "3", "C": "2"}
    program = load(LRU, sets).program
    options = SimulateOptions(seed=5, replications=n, engine=engine, horizon=600.0, warmup=50.0)
    made = twin(program, sets, event, at)
    return twin_price(made, program, look_at(made, options), options, follow=40)


def test_no_difference_costs_nothing_at_all() -> None:
    found = pairs("auto", "work := ~exp(s_hit)")
    assert found.present.value == found.present.half_width == 0
    assert {e.value for e in found.measures} == {0.0}


def test_both_engines_make_the_same_pairs() -> None:
    if not jit.available():
        pytest.skip("llvmlite is not installed")
    compiled, reference = pairs("compiled"), pairs("reference")
    assert (compiled.engine, reference.engine) == ("compiled", "reference")
    assert compiled.present == reference.present
    assert compiled.measures == reference.measures
    assert np.array_equal(compiled.works.other, reference.works.other)


def test_one_event_alone_is_different() -> None:
    """A miss that is a thousand times as long is one job of that length and nothing else."""
    sets = {"N": "1", "C": "1"}
    program = load(LRU, sets).program
    options = SimulateOptions(seed=5, replications=4, horizon=600.0, warmup=50.0)
    made = twin(program, sets, "work := 1000", HIT)
    found = twin_price(made, program, look_at(made, options), options, follow=100)
    busy = {e.measure: e for e in found.measures}["stage.svc.busy"]
    assert 75 < busy.value < 85  # all the time that is followed, of which a fifth would have been work anyway


def test_two_exponential_amounts_come_of_one_draw() -> None:
    works = pairs("auto").works
    assert works.other == pytest.approx(3 * works.kept)
    assert works.other.mean() == pytest.approx(3, rel=0.2)
    other = pairs("auto", "work := 2 + ~exp(s_hit)").works
    assert np.corrcoef(other.kept, other.other)[0, 1] < 0.3


def test_the_time_that_pairs_are_followed_is_found() -> None:
    """A queue that is nearly full forgets slowly."""
    sets = {"lam": "0.5"}
    program = load(find("hit_miss").path, sets).program
    options = SimulateOptions(seed=2, replications=16, horizon=20000.0)
    made = twin(program, sets, MISS, "14:16")
    look = look_at(made, options)
    found = twin_price(made, program, look, options)
    assert found.followed > 5 * look.cycle
    short = twin_price(made, program, look, options, follow=3.0)
    assert short.followed == 3
    assert short.remark.startswith("the last half of the time that pairs were followed added")


# -- what no chain states --------------------------------------------------------------------------------------------


def test_a_replica_has_a_price_by_simulation_and_by_the_open_formula() -> None:
    found = asked(REPLICA, "reuse := 0", None, ("exact", "sim", "closed"), replications=40)
    assert found.exact is None
    assert "kv preempts" in found.no_chain
    assert found.simulated.present.value > 2 * found.simulated.present.half_width > 0
    values = {f.formula: f.value for f in found.formulas}
    assert 0 < values["extra work alone"] < values["open queue (M/G/1)"]
    assert values["finite source (M/G/1//N)"] > values["extra work alone"]
    # a miss of about 12 tokens: 0.01 s each, and 0.1 s where it takes one iteration more
    assert 0.1 < values["extra work alone"] < 0.3


def test_a_program_without_a_chain_is_refused_where_only_the_chain_is_asked() -> None:
    with pytest.raises(OutsideFragmentError):
        asked(REPLICA, "reuse := 0", None, ("exact",))


# -- what cannot be priced -------------------------------------------------------------------------------------------


@contextmanager
def refused(said: str) -> Iterator[None]:
    with pytest.raises(UsageError, match=said):
        yield


def test_an_event_that_never_happens() -> None:
    text = LRU.read_text().replace("cache (1)", "cache (0)")
    with refused("the event does not happen in a run until time 400, so it has no price"):
        asked(text, MISS, HIT, ("sim",), horizon=400.0, warmup=0.0)


def test_too_few_pairs_and_no_time() -> None:
    with refused("two pairs of runs at least, not 1"):
        asked(LRU, MISS, HIT, ("sim",), replications=1)
    with refused("for a positive time, not 0"):
        asked(LRU, MISS, HIT, ("sim",), follow=0.0)


def test_stages_that_no_formula_knows() -> None:
    said = {}
    for stage in ("fifo (2)", "ps (min(n, 2))", "delay"):
        text = LRU.read_text().replace("stage svc : fifo;", f"stage svc : {stage};")
        said[stage] = {f.reason for f in asked(text, MISS, HIT, ("closed",), horizon=500.0, warmup=0.0).formulas}
    assert said == {
        "fifo (2)": {"svc has several servers"},
        "ps (min(n, 2))": {"the speed of svc depends on how many jobs are there"},
        "delay": {"nobody waits at a delay"},
    }


def test_an_open_program_has_no_number_of_sources() -> None:
    found = asked(find("hit_miss").path, MISS, "14:16", ("closed",))
    by_name = {f.formula: f for f in found.formulas}
    assert by_name["finite source (M/G/1//N)"].reason == "the number of sessions is not fixed"
    # 0.4 turns of mean 1.5 and second moment 6 per second: the formula at the moments of the laws
    assert by_name["open queue (M/G/1)"].value == pytest.approx(
        float(2 + Fraction(2, 5) * 16 / (2 * Fraction(2, 5)) + Fraction(2, 5) * 3 * 2 / Fraction(2, 5)), rel=0.06
    )
