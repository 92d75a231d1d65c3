"""Loops that cannot let time pass, and those that can."""

import pytest

HEAD = """
let one = 1; let zero = one - 1;
stage s : fifo; pool m { cap 2; }
workload { arrive closed(1); init { set nil = zero; set also = nil * 2; set some = 1; } }
"""


def session(loop: str) -> str:
    return HEAD + f"session {{ branch (one) {{ set some = ~exp(1); }} loop {{ {loop} }} }}"


@pytest.mark.parametrize(
    "loop",
    [
        "",
        "set a = 1;",
        "run s (0);",
        "run s (zero);",
        "run s (nil);",
        "run s (also);",
        "run s (min(0, also));",
        "run s (~exp(zero));",
        "run s (~erlang(2, 0));",
        "run s (also > 0 ? some : 0);",
        "run s (zero > 0 ? some : zero);",
        "branch (0.5) { run s (1); }",
        "branch (some) { run s (1); } else { turn; }",
        "branch (0.5) { branch (0.5) { run s (1); } else { end; } }",
        "branch (zero) { run s (1); } else { observe x = now; }",
        "branch (nil) { run s (1); } else { observe x = now; }",
    ],
)
def test_refused(faults, loop: str) -> None:
    assert faults(session(loop)) == [("SQ301", "loop")]


@pytest.mark.parametrize(
    "loop",
    [
        "run s (1);",
        "run s (some);",
        "run s (-1);",
        "run s (0 / 0);",
        "run s (~exp(one));",
        "run s (~exp(some));",
        "run s (max(nil, some));",
        "hold m (1) { }",
        "set a = 1; end;",
        "branch (0.5) { run s (1); } else { end; }",
        "branch (0.5) { run s (0); } else { hold m (1) { } } run s (some);",
        "branch (one) { run s (1); } else { observe x = now; }",
        "branch (nil == 0) { run s (1); } else { observe x = now; }",
        "loop { run s (1); }",
    ],
)
def test_accepted(linked, loop: str) -> None:
    linked(session(loop))


def test_an_attribute_that_is_assigned_otherwise_anywhere_is_not_known(linked) -> None:
    linked(HEAD + "session { loop { run s (nil); set nil = serial; } }")
    linked(
        HEAD + "session { loop { run s (w); choose w in 1 by (w); } }".replace("loop {", "choose w in 1 by (w); loop {")
    )


def test_only_the_loop_at_fault_is_named(faults) -> None:
    text = HEAD + "session { loop { run s (1); loop { set a = 1; } } }"
    assert faults(text) == [("SQ301", "loop")]
