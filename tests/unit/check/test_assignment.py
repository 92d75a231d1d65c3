"""Attributes read before they are set."""

import pytest

HEAD = """
stage s : fifo;
workload { arrive batch(2); trace "t.csv"; init { set given = 1; } turn { set drawn = given + new; } }
"""


def session(text: str) -> str:
    return HEAD + f"session {{ {text} }}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("turn; run s (a); set a = 1;", "a"),
        ("turn; set a = a + 1;", "a"),
        ("run s (drawn); turn;", "drawn"),
        ("run s (out); turn;", "out"),
        ("turn; branch (0.5) { set a = 1; end; } run s (a);", "a"),
        ("turn; loop { run s (a); set a = 1; }", "a"),
        ("turn; loop { run s (1); branch (0.5) { observe x = a; } set a = 1; end; }", "a"),
        ("turn; observe x = given > 0 ? 1 : a; branch (0) { set a = 1; }", "a"),
        ("turn; choose i in i by (i);", "i"),
        ("turn; choose i in 2 by (a + i); set a = 1;", "a"),
        ("turn; run s (given && a); loop { run s (1); branch (a) { set a = 1; } }", "a"),
    ],
)
def test_reported(faults, text: str, name: str) -> None:
    assert faults(session(text)) == [("SQ206", name)]


@pytest.mark.parametrize(
    "text",
    [
        "turn; run s (given + drawn + out);",
        "turn; branch (0.5) { set a = 1; } run s (a);",
        "turn; set a = 1; set a = a + 1; run s (a);",
        "turn; loop { run s (1); observe x = turn_no > 1 ? a : 0; set a = 1; }",
        "turn; loop { run s (1); observe x = turn_no > 1 && a; set a = 1; }",
        "turn; choose i in 2 by (i); run s (i);",
        "turn; loop { run s (1); branch (turn_no > 1) { observe x = a; } set a = 1; turn; }",
    ],
)
def test_left_to_the_run(linked, text: str) -> None:
    linked(session(text))


def test_both_reads_are_found(faults) -> None:
    assert faults(session("turn; run s (a); run s (b); set a = 1; set b = 1; observe x = c; set c = 1;")) == [
        ("SQ206", "a"),
        ("SQ206", "b"),
        ("SQ206", "c"),
    ]


def test_keys_read_attributes_whenever_they_are_set(linked) -> None:
    text = "pool m { cap 2; queue by (urgent); evict by (urgent); } stage s : fifo; workload { arrive closed(1); }"
    linked(text + "session { loop { hold m (1) { run s (1); } set urgent = 1; observe x = now; } }")


def test_init_and_turn_blocks_are_read_in_order(faults) -> None:
    text = (
        "stage s : fifo; workload { arrive closed(1); init { set b = a; set a = 1; } turn { set d = c; set c = b; } }"
    )
    assert faults(text + "session { loop { turn; run s (d); } }") == [("SQ206", "a"), ("SQ206", "c")]
