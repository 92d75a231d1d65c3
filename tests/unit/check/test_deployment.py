"""Pools and stages: arrays as members, partners as places, options and their defaults."""

import math

import pytest

from serq.base.errors import LoadError
from serq.base.source import SourceFile
from serq.check.link import link
from serq.ir import program as p
from serq.syntax.parser import parse

SESSION = "workload { arrive closed(1); } session { loop { run gate (1); observe x = now; } }"


def test_defaults(linked) -> None:
    program = linked("pool a { } stage gate : fifo; stage b : delay;" + SESSION).program
    (pool,) = program.pools
    assert pool.cap.exact == math.inf
    assert (pool.block, pool.evict, pool.preempt, pool.queue) == (None, (), "none", ())
    assert (pool.admit_via, pool.pin_waiting, pool.spill) == (None, False, None)
    gate, b = program.stages
    assert isinstance(gate.kind, p.Fifo)
    assert p.whole(gate.kind.servers) == 1
    assert b.kind == p.Delay()


def test_every_option_of_a_pool(linked) -> None:
    text = """
    pool kv { cap 8; block 2; evict by (queued, size); preempt lifo; queue by (waited); admit via engine; pin waiting;
              spill host via gate (size) when (age > 1); }
    pool host { }
    stage gate : fifo;
    stage engine : step { budget 4; cost ntok; chunk 2; exclusive prefill; decode first; memory host; }
    """
    program = linked(text + SESSION).program
    kv = program.pools[0]
    assert (p.whole(kv.cap), len(kv.evict), kv.preempt, len(kv.queue)) == (8, 2, "lifo", 1)
    assert kv.block is not None
    assert p.whole(kv.block) == 2
    assert (kv.admit_via, kv.pin_waiting) == (1, True)
    assert kv.spill is not None
    assert (kv.spill.tier, kv.spill.via) == (1, 0)
    step = program.stages[1].kind
    assert isinstance(step, p.Step)
    assert (step.exclusive_prefill, step.decode_first, step.memory, step.chunk is not None) == (True, True, 1, True)


def test_arrays_become_members(linked) -> None:
    program = linked(
        "let R = 2; pool a[R + 1] { cap 4; } pool b { } stage gate : fifo; stage s[R] : ps(n);" + SESSION
    ).program
    assert [x.name for x in program.pools] == ["a[0]", "a[1]", "a[2]", "b"]
    assert [x.name for x in program.stages] == ["gate", "s[0]", "s[1]"]


def test_an_array_of_one_keeps_its_index(linked) -> None:
    assert linked("pool a[1] { } stage gate : fifo;" + SESSION).program.pools[0].name == "a[0]"


def test_partners_are_paired_member_by_member(linked) -> None:
    text = """
    stage gate : fifo;
    pool slots[2] { admit via engine; }
    pool kv[2] { spill host via wire (1) when (1); }
    pool host { }
    stage wire[2] : fifo;
    stage engine[2] : step { budget 4; cost 1; memory kv; }
    """
    program = linked(text + SESSION).program
    assert [x.admit_via for x in program.pools] == [3, 4, None, None, None]
    assert [x.spill.via for x in program.pools if x.spill] == [1, 2]
    assert [x.spill.tier for x in program.pools if x.spill] == [4, 4]
    assert [x.kind.memory for x in program.stages if isinstance(x.kind, p.Step)] == [2, 3]


def test_a_spill_may_name_a_member(linked) -> None:
    text = "stage gate : fifo; pool kv { spill host[1] via gate (1) when (1); } pool host[2] { }"
    pool = linked(text + SESSION).program.pools[0]
    assert pool.spill is not None
    assert pool.spill.tier == 2


def test_a_reference_says_where_its_array_begins(linked) -> None:
    text = """
    stage gate : fifo; stage s[3] : fifo;
    workload { arrive closed(1); } session { loop { run s[serial % 3] (1); observe x = queue(s[1]); } }
    """
    run = linked(text).program.code[0]
    assert isinstance(run, p.Run)
    assert (run.stage.name, run.stage.base, run.stage.size, run.stage.index is not None) == ("s", 1, 3, True)


def test_arrivals(linked) -> None:
    def arrivals(words: str) -> p.Arrivals:
        text = f"stage gate : fifo; workload {{ {words} }} session {{ run gate (1); observe x = now; }}"
        return linked(text).program.arrivals

    assert arrivals("arrive none;") == p.NoArrivals()
    poisson = arrivals("arrive poisson(0.5) limit(3);")
    assert isinstance(poisson, p.Poisson)
    assert poisson.limit is not None
    assert (poisson.rate.value, p.whole(poisson.limit)) == (0.5, 3)
    renewal = arrivals("arrive renewal(~erlang(2, now + 1)) limit(0);")
    assert isinstance(renewal, p.Renewal)
    assert renewal.limit is not None
    assert arrivals("arrive batch(0);") == p.Batch(renewal.limit)
    assert isinstance(arrivals("arrive closed(4);"), p.Closed)


def test_trace_path_and_attributes(linked) -> None:
    text = """
    stage gate : fifo;
    workload { arrive batch(2); trace "a/b.csv" ordered; init { set k = 1; } turn { observe y = new; } }
    session { turn; set z = k; run gate (z); observe x = now; }
    """
    program = linked(text).program
    assert program.trace is not None
    assert (program.trace.path, program.trace.ordered) == ("a/b.csv", True)
    assert program.attributes == ("new", "out", "think", "more", "forced", "k", "z")
    assert program.observes == ("y", "x")
    assert program.name == "program"


def test_victims_by_keys_and_plans_ahead(linked) -> None:
    text = """
    let k = 2;
    pool kv[2] { cap 8; preempt by (-urgency * k, now); }
    stage gate : fifo;
    stage engine : step { budget 4; cost 1; plan ahead; }
    workload { arrive batch(2); init { set urgency = 1; } }
    session { run gate (1); observe x = now; }
    """
    program = linked(text).program
    assert [(x.preempt, len(x.victims)) for x in program.pools] == [("by", 2), ("by", 2)]
    step = program.stages[1].kind
    assert isinstance(step, p.Step)
    assert (step.plan_ahead, step.decode_first, step.exclusive_prefill) == (True, False, False)


def test_sessions_and_further_columns_from_the_trace(linked) -> None:
    text = """
    stage gate : fifo;
    workload { arrive trace; trace "t.csv" with (urgency, place); }
    session { turn; run gate (urgency); observe x = place; }
    """
    program = linked(text).program
    assert program.arrivals == p.FromTrace()
    assert program.trace is not None
    assert program.trace.columns == ("urgency", "place")
    assert program.traced == ("new", "out", "think", "more", "forced", "urgency", "place")
    assert set(program.traced) <= set(program.attributes)


@pytest.mark.parametrize(
    ("workload", "code", "message"),
    [
        ("arrive trace;", "SQ119", "a workload with `arrive trace;` has no trace"),
        ('arrive trace; trace "t.csv" with (a, a);', "SQ120", "the trace says the column `a` twice"),
        ('arrive trace; trace "t.csv" with (new);', "SQ120", "the trace says the column `new` twice"),
        ('arrive trace; trace "t.csv" with (start);', "SQ120", "the trace says the column `start` twice"),
        ('arrive trace; trace "t.csv" with (gate);', "SQ103", "`gate` is the name of an attribute of the trace and of"),
    ],
)
def test_what_a_trace_cannot_say(workload: str, code: str, message: str) -> None:
    text = f"stage gate : fifo; workload {{ {workload} }} session {{ turn; run gate (1); observe x = now; }}"
    with pytest.raises(LoadError) as caught:
        link(parse(SourceFile("t.sq", text)))
    (fault,) = caught.value.diagnostics
    assert fault.code == code
    assert message in fault.message
