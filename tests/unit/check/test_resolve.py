"""Names: which one thing each stands for."""

import pytest

from serq.base.errors import LoadError
from serq.ir import expr as e
from serq.ir import program as p

TAIL = "workload { arrive closed(1); } session { loop { run s (1); observe x = now; } }"


def rate(linked, text: str, **overrides: object) -> e.Expr:
    """The rate of the `ps` stage s."""
    kind = linked(text + TAIL, **overrides).program.stages[0].kind
    assert isinstance(kind, p.ProcessorSharing)
    return kind.rate


def observed(linked, expression: str, before: str = "") -> e.Expr:
    text = "stage s : fifo; pool kv[2] { cap 4; } workload { arrive closed(1); } session { loop { run s (1); "
    code = linked(text + f"{before} observe x = {expression}; }} }}").program.code
    return next(x.expr for x in code if isinstance(x, p.Observe))


@pytest.mark.parametrize("name", ["n", "present"])
def test_context_variables_have_two_names_and_one_meaning(linked, name: str) -> None:
    assert rate(linked, f"stage s : ps({name});") == e.Context("n")


def test_long_names_of_keys_budgets_and_costs(linked) -> None:
    text = """
    stage s : fifo;
    pool kv { cap 4; evict by (waiting, size, age, last); queue by (waited); }
    stage engine : step {
      budget residents; chunk decoders; cost kv_decode + kv_prefill + tokens + prefilled + attention;
    }
    """
    program = linked(text + TAIL).program
    names = [x.name for x in (*program.pools[0].evict, *program.pools[0].queue) if isinstance(x, e.Context)]
    assert names == ["queued", "size", "age", "last", "waited"]
    step = program.stages[1].kind
    assert isinstance(step, p.Step)
    assert (step.budget, step.chunk) == (e.Context("nres"), e.Context("ndec"))
    cost = [x.name for x in e.walk(step.cost) if isinstance(x, e.Context)]
    assert cost == ["kvb", "kvp", "ntok", "npre", "attn"]


def test_a_context_name_is_free_elsewhere(linked) -> None:
    assert observed(linked, "n + size", "set n = 1; set size = 2;") == e.Binary("+", e.Attr("n"), e.Attr("size"))


def test_no_warning_where_the_attribute_could_not_be_meant(linked) -> None:
    text = "stage s : ps(n); workload { arrive closed(1); } session { loop { set n = 2; run s (n); observe x = now; } }"
    assert linked(text).warnings == ()


def test_names_in_a_session(linked) -> None:
    whole = "serial + turn_no + now + a + used(kv[1]) + queue(s) + price(s, 1, 2)"
    nodes = e.walk(observed(linked, whole, "set a = 1;"))
    kinds = {type(x).__name__ for x in nodes}
    assert kinds == {"Binary", "Builtin", "Attr", "PoolState", "StageState", "Price", "Num"}


def test_the_bound_name_of_choose(linked) -> None:
    text = "stage s[2] : fifo; workload { arrive closed(1); } "
    text += "session { loop { choose i in 2 by (queue(s[i])); run s[i] (1); } }"
    choose = linked(text).program.code[0]
    assert isinstance(choose, p.Choose)
    assert choose.keys == (e.StageState("queue", e.Ref("s", 0, 2, e.Attr("i"))),)


def test_literals_are_kept_exactly(linked) -> None:
    value = observed(linked, "0.1")
    assert isinstance(value, e.Num)
    assert value.value * 10 == 1


def test_keywords_may_name_things(linked) -> None:
    text = "stage prefill : fifo; pool cache { cap 2; } workload { arrive closed(1); } session { loop { "
    linked(text + "set hold = 1; hold cache (hold) { run prefill (1); } observe session = now; } }")


def test_an_observe_may_share_its_name(linked) -> None:
    assert observed(linked, "1", "observe s = 2; observe kv = 3;") == e.Num(2)


def test_every_fault_in_one_go(faults) -> None:
    text = """
    let a = zz; let a = 2;
    pool kv { cap -1; admit via s; }
    stage s : fifo;
    workload { arrive closed(1.5); }
    session { loop { set now = 1; hold kw (1) { } run s (q + cached); grow kv (1); end; observe x = n; } }
    """
    codes = [code for code, _ in faults(text)]
    assert codes == [
        "SQ101",
        "SQ103",
        "SQ117",
        "SQ304",
        "SQ117",
        "SQ104",
        "SQ102",
        "SQ101",
        "SQ205",
        "SQ306",
        "SQ302",
        "SQ201",
    ]


def test_attributes_of_a_trace_need_one(linked) -> None:
    text = "stage s : fifo; workload { arrive closed(1); } session { loop { run s (out); observe x = now; } }"
    with pytest.raises(LoadError) as caught:
        linked(text)
    assert "trace" in caught.value.diagnostics[0].hint


def test_suggestions_come_from_what_could_stand_there(linked) -> None:
    text = "let mean = 1; stage s : ps(preset); workload { arrive closed(1); } "
    text += "session { loop { run s (maen); observe x = now; } }"
    with pytest.raises(LoadError) as caught:
        linked(text)
    assert [d.hint for d in caught.value.diagnostics] == ["did you mean `present`?", "did you mean `mean`?"]
