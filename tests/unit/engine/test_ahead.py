"""Which draws are made before they are needed, and that they are what they would have been."""

import pytest
from engines import assert_same, short
from running import program_of

from serq.engine.ahead import NOTHING, START, draws_ahead
from serq.engines import run_compiled
from serq.ir import expr as e
from serq.semantics.reference import simulate

HEAD = "stage svc : fifo; stage think : delay;"
CLOSED = HEAD + " workload { arrive closed(5); } session { loop { BODY } } run { horizon 40; }"
OPEN = HEAD + " workload { arrive poisson(0.5); } session { BODY } run { horizon 40; }"


def is_law(draw):
    return all(isinstance(a, e.Num) for a in draw.args)


def laws(text):
    """By instruction (`START` is -1), whether its draw has been made and the law of the one that is made there."""
    plan = draws_ahead(program_of(text), is_law)
    return {pc: (a.made, None if a.following is None else a.following.law) for pc, a in plan.items() if a != NOTHING}


def agrees(text):
    """Whether both engines give the same; they do, or fail."""
    program = program_of(text)
    options = short(program, 40.0)
    assert_same(run_compiled(program, options, 1, backend="cpython").results[0], simulate(program, options))


def test_one_time_after_the_other_is_known():
    text = CLOSED.replace("BODY", "run svc (~exp(1)); run think (~erlang(2, 3));")
    assert sorted(laws(text).values(), key=str) == [(False, "exp"), (True, "erlang"), (True, "exp")]
    assert laws(text)[START] == (False, "exp")
    agrees(text)


def test_the_last_draw_of_a_session_has_none_behind_it():
    text = OPEN.replace("BODY", "run svc (~h2(1, 4)); observe x = now;")
    assert laws(text) == {START: (False, "h2"), 0: (True, None)}
    agrees(text)


@pytest.mark.parametrize("draw", ["~h2(1, 4)", "~exp(2)", "~uniform(0, 2)", "~erlang(2, 1)"])
@pytest.mark.parametrize("way", ["WORK", "WORK * 2", "WORK); observe x = now; run think (3"])
def test_all_that_a_session_draws_is_one_draw(draw, way):
    """Two laws are drawn for a block of sessions at once; in some 500 of them are a few that must be drawn alone."""
    program = program_of(OPEN.replace("BODY", f"run svc ({way.replace('WORK', draw)});"))
    options = short(program, 1000.0)
    made = next(a for pc, a in draws_ahead(program, is_law).items() if pc == START)
    assert made.last
    assert_same(run_compiled(program, options, 1, backend="cpython").results[0], simulate(program, options))


@pytest.mark.parametrize("body", ["run svc (~exp(1)); run think (~exp(2));", "loop { run svc (~exp(1)); }"])
def test_a_session_may_draw_again(body):
    assert not draws_ahead(program_of(OPEN.replace("BODY", body)), is_law)[START].last
    agrees(OPEN.replace("BODY", body))


@pytest.mark.parametrize(
    "body",
    [
        "run svc (~exp(1)); branch (0.5) { run think (~exp(2)); } else { run think (~exp(3)); }",
        "run svc (~exp(1)); branch (queue(svc) > 1) { run think (~exp(2)); } run think (~exp(3));",
        "set a = queue(svc) > 1 ? ~exp(1) : 2; run svc (a); run think (~exp(4));",
        "set a = queue(svc) > 1 && ~uniform(0, 1) < 0.5; run svc (1 + a); run think (~exp(4));",
        "set a = ~exp(1) + ~exp(2); run svc (a); run think (~exp(4));",
        "set a = queue(svc) + 1; run svc (~exp(a)); run think (~exp(4));",
        "run svc (~choice(1: 0.5, 2: 0.5)); run think (~exp(4));",
        "set a = ~uniform(0, 1); branch (a < 0.5) { run svc (~exp(1)); } run think (~exp(2));",
    ],
)
def test_what_comes_next_may_depend(body):
    """Both engines draw the same numbers for the same purposes, whatever is made ahead."""
    agrees(CLOSED.replace("BODY", body))


def test_behind_an_uncertain_draw_nothing_is_made():
    text = CLOSED.replace(
        "BODY", "branch (0.5) { run svc (~exp(1)); } else { run svc (~exp(2)); } run think (~exp(3));"
    )
    assert sorted(laws(text).values(), key=str) == [(False, "exp"), (False, "exp"), (True, None)]


def test_programs_with_pools_make_none():
    text = "pool kv { cap 4; } stage s : delay; workload { arrive closed(3); } "
    text += "session { loop { hold kv (1) { run s (~exp(1)); } run s (~exp(2)); } } run { horizon 40; }"
    assert laws(text) == {}
    agrees(text)
