from fractions import Fraction

from serq.ir import expr as e
from serq.ir import program as p
from serq.pipeline import load_text
from serq.semantics.control import Control, control_of


def control(text: str) -> Control:
    return control_of(load_text(text).program)


def kept(text: str) -> list[tuple[str, set[str]]]:
    """What is kept at every place of rest, in the order of the program."""
    found = control(text)
    names = {p.Run: "run", p.Hold: "hold", p.Grow: "grow"}
    return [(names[type(found.program.code[pc])], set(found.kept[pc])) for pc in sorted(found.kept)]


LOOP = """stage s : fifo; stage d : delay; pool m {{ cap 2; {} }}
workload {{ arrive closed(2); }} session {{ loop {{ {} }} }}"""


def loop(body: str, pool: str = "") -> str:
    return LOOP.format(pool, body)


ZERO = e.Num(Fraction(0))


def test_times_are_cut_out_of_observes() -> None:
    found = control(loop("set t = now; run s (~exp(1)); observe r = now - t + 3; observe q = queue(s);"))
    sets = [x for x in found.sliced.code if isinstance(x, p.Set)]
    observes = [x.expr for x in found.sliced.code if isinstance(x, p.Observe)]
    assert [x.expr for x in sets] == [ZERO]
    assert observes[0] == e.Num(Fraction(3))
    assert isinstance(observes[1], e.StageState)
    assert [type(x) for x in found.sliced.code] == [type(x) for x in found.program.code]


def test_a_set_that_is_not_used_draws_nothing() -> None:
    found = control(loop("set a = ~bernoulli(0.5); set b = ~bernoulli(0.5); observe x = b; run s (~exp(1));"))
    values = {x.name: x.expr for x in found.sliced.code if isinstance(x, p.Set)}
    assert values["a"] == ZERO
    assert values["b"] != ZERO


def test_a_counter_that_only_counts_is_not_used() -> None:
    text = loop("run s (~exp(1)); set k = k + 1;").replace("session { loop", "session { set k = 0; loop")
    assert kept(text) == [("run", set())]


def test_an_attribute_is_kept_until_it_is_read_for_the_last_time() -> None:
    text = loop("set a = ~bernoulli(0.5); run s (~exp(1)); run d (~exp(1 + a)); run s (~exp(2));")
    assert kept(text) == [("run", {"a"}), ("run", set()), ("run", set())]


def test_cached_dies_at_the_next_admission() -> None:
    text = loop("hold m (1) { run s (~exp(1)); observe hit = cached; } cache (1); run d (~exp(1));")
    assert kept(text) == [("hold", set()), ("run", {"cached"}), ("run", set())]


def test_a_preemption_executes_the_hold_again() -> None:
    body = "set u = ~choice(1: 1, 2: 1); hold m (u) { set u = 0; run s (~exp(1)); grow m (1); } run d (~exp(1));"
    assert kept(loop(body))[1] == ("run", set())
    assert kept(loop(body, "preempt lifo;"))[1] == ("run", {"u"})


def test_a_preemption_reads_cache_clauses() -> None:
    body = "set k = 1; hold m (1) { run s (~exp(1)); grow m (1); set k = 2; } cache (k); run d (~exp(1));"
    assert kept(loop(body)) == [("hold", set()), ("run", set()), ("grow", set()), ("run", set())]
    assert kept(loop(body, "preempt lifo;")) == [("hold", {"k"}), ("run", {"k"}), ("grow", {"k"}), ("run", set())]


def test_keys_of_a_queue_are_kept_while_waiting() -> None:
    body = "set u = ~choice(1: 1, 2: 1); hold m (1) { run s (~exp(1)); } run d (~exp(1));"
    assert kept(loop(body, "queue by (u);")) == [("hold", {"u"}), ("run", set()), ("run", set())]


def test_keys_of_eviction_are_kept_everywhere() -> None:
    body = "set u = ~choice(1: 1, 2: 1); hold m (1) { run s (~exp(1)); } cache (1); run d (~exp(1));"
    assert kept(loop(body, "evict by (u);")) == [("hold", {"u"}), ("run", {"u"}), ("run", {"u"})]


def test_a_draw_in_an_observe_is_kept_for_its_mean() -> None:
    text = loop("set t = now; set w = ~exp(1); run s (w); run d (~exp(1)); observe x = now - t - w;")
    assert kept(text) == [("run", {"w"}), ("run", {"w"})]


def test_the_turn_block_is_needed_when_one_of_its_turns_is() -> None:
    text = """stage s : fifo; workload { arrive closed(1); turn { set k = ~bernoulli(0.5); } }
    session { loop { turn; run s (~exp(1 + k)); turn; run s (~exp(1)); } }"""
    found = control(text)
    assert isinstance(found.sliced.turn[0].expr, e.Draw)
    assert [names for _, names in kept(text)] == [set(), set()]
