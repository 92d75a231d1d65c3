"""The price of one event: against a chain in which the event is made rare, and what cannot be priced."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from serq.base.errors import LoadError, UsageError
from serq.pipeline import SolveOptions, load, load_text, solve
from serq.semantics.solve import stationary
from serq.studies import event as event_module
from serq.studies.event import price_of_event
from serq.studies.event_price import exact_remark

LRU = Path(__file__).parents[2] / "data" / "values" / "programs" / "lru.sq"
EXACT = SolveOptions(exact=True)
SETS = {"N": "3", "C": "2"}
HIT = "run svc (~exp(s_hit));"
LOST = "} cache(1);"


def priced(event: str, at: str | None = None, **sets: str):
    sets = SETS | sets
    return price_of_event(load(LRU, sets).program, sets, event, at, EXACT)


def place(text: str) -> str:
    """LINE:COLUMN of a text in the program."""
    for number, line in enumerate(LRU.read_text().splitlines(), 1):
        if text in line:
            return f"{number}:{line.index(text) + 1}"
    raise AssertionError(text)


def measures(text: str) -> dict[str, Fraction]:
    found = solve(load_text(text, overrides=SETS).program, EXACT).estimates
    return {e.measure: e.value for e in found if e.value is not None}


RARE = Fraction(1, 10**9)
CHANGES = {
    "work := ~exp(s_miss)": (HIT, f"branch (1 - 1e-9) {{ {HIT} }} else {{ run svc (~exp(s_miss)); }}"),
    "entry lost": (LOST, f"{LOST} branch (1e-9) {{ drop kv; }}"),
}


@pytest.mark.parametrize("event", CHANGES)
def test_the_same_by_making_the_event_rare(event: str) -> None:
    """With a chance of 1e-9 the measures move by the price times the rate of what was changed, to 7 digits."""
    found = priced(event, place(HIT) if event.startswith("work") else None)
    text = LRU.read_text()
    old, new = CHANGES[event]
    assert text.count(old) == 1
    before, after = measures(text), measures(text.replace(old, new))
    away = [(m["stage.svc.number"] + m["pool.kv.queue"]) for m in (before, after)]
    assert float((away[1] - away[0]) / RARE) == pytest.approx(float(found.present * found.price.rate), rel=1e-7)
    for name in ("observe.response.rate", "pool.kv.evictions", "stage.svc.utilisation"):
        rise = float((after[name] - before[name]) / RARE)
        assert rise == pytest.approx(float(found.price.measures[name] * found.price.rate), rel=1e-6)
    # a mean per turn: the event happens in so many of the turns
    share = found.price.rate / before["observe.response.rate"]
    rise = float((after["observe.response.mean"] - before["observe.response.mean"]) / RARE)
    assert rise == pytest.approx(float(found.price.measures["observe.response.mean"] * share), rel=1e-6)


def test_the_two_prices_are_one_where_everything_fits() -> None:
    """With a unit for everybody nothing is won by a unit that is free."""
    sets = {"C": "3"}
    miss, lost = priced("work := ~exp(s_miss)", place(HIT), **sets), priced("entry lost", **sets)
    assert miss.present == lost.present == Fraction(104584, 32305)
    assert priced("work := ~exp(s_miss)", place(HIT)).present != priced("entry lost").present


def test_no_change_costs_nothing() -> None:
    found = priced("work := ~exp(s_hit)", place(HIT))
    assert found.present == 0
    assert set(found.price.measures.values()) == {0}


def test_by_number_they_add_up() -> None:
    """The hits of the full cache, by how many are there after the event, weighted by how often that is."""
    found = priced("work := ~exp(s_miss)", place(HIT), N="2", C="2")
    assert list(found.by_number) == [1, 2]
    low, high = sorted(found.by_number.values())
    assert low <= found.present <= high


@pytest.mark.parametrize(
    ("event", "at", "said"),
    [
        ("miss", None, "the event is `work := EXPR`, `reuse := EXPR` or `entry lost`, not 'miss'"),
        ("work := ~exp(1)", None, "more than one run in the program; say which"),
        ("work := ~exp(1)", "3", "there is no run at 3"),
        ("work := ~exp(1)", "x:1", "--at takes LINE or LINE:COLUMN"),
        ("entry lost", "1", "there is no hold at 1"),
        ("work := ~exp(", "20:30", r"--do work := ~exp\(: '~exp\(' is no expression: this `\(` is never closed"),
        ("work := 1); run think (2", "20:30", "is no expression"),
        ("reuse :=", None, "the event is `work := EXPR`"),
    ],
)
def test_what_is_no_event(event: str, at: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        priced(event, at)


def test_an_event_that_never_happens() -> None:
    program = load_text(LRU.read_text().replace("cache(1)", "cache(0)"), overrides=SETS).program
    with pytest.raises(UsageError, match="never happens"):
        price_of_event(program, SETS, "work := ~exp(s_miss)", place(HIT), EXACT)


def test_a_work_that_is_none() -> None:
    with pytest.raises(LoadError, match="unknown name `nope`"):
        priced("work := ~exp(nope)", place(HIT))


SOME = [("entry lost", {"N": "4"}), ("work := ~exp(s_miss)", {"s_miss": "9", "Z": "1 / 2"})]


@pytest.mark.parametrize(("event", "sets"), SOME)
def test_prices_in_doubles_have_bounds_that_hold(event: str, sets: dict[str, str]) -> None:
    sets, at = SETS | sets, None if event == "entry lost" else place(HIT)
    program = load(LRU, sets).program
    exact, near = (price_of_event(program, sets, event, at, SolveOptions(exact=x)) for x in (True, False))
    assert exact.bound == 0
    assert set(exact.bounds.values()) == {0}
    assert abs(Fraction(near.present) - exact.present) <= near.bound < 1e-7 * float(exact.present)
    assert near.bounds.keys() == near.price.measures.keys()
    for name, value in near.price.measures.items():
        assert abs(Fraction(value) - exact.price.measures[name]) <= near.bounds[name], name


def test_a_bound_that_is_not_proved_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_module, "stationary", lambda *a, **k: replace(stationary(*a, **k), bound=None))
    found = price_of_event(load(LRU, SETS).program, SETS, "entry lost", None, SolveOptions(exact=False))
    assert found.bound is None
    assert not found.bounds
    assert exact_remark(found).endswith("no bound on the error")
