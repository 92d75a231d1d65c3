from dataclasses import replace
from fractions import Fraction

import hand_chains
import pytest

from serq.base.errors import LimitError
from serq.exporters.dot import LARGEST, Dot
from serq.ir.chain import RateSymbol, Transition


def test_a_small_picture():
    chain = replace(
        hand_chains.make_chain([{}, {}], name='a "b"'),
        states=("idle", 'say "x"\nback\\slash'),
        symbols=(RateSymbol("mu", Fraction(2)), RateSymbol("1/Z", Fraction(1, 4)), RateSymbol("1", Fraction(1))),
        transitions=(
            Transition(0, 1, Fraction(4), Fraction(2), 0),
            Transition(0, 1, Fraction(2), Fraction(1), 0),
            Transition(0, 1, Fraction(1, 4), Fraction(1), 1),
            Transition(1, 0, Fraction(1, 2), Fraction(2), 1),
            Transition(1, 1, Fraction(3), Fraction(3), 2),
        ),
    )
    assert Dot().emit(chain, "pic")["pic.dot"].splitlines() == [
        'digraph "a \\"b\\"" {',
        "  node [shape=box, style=rounded];",
        '  s0 [label="idle", peripheries=2];',
        '  s1 [label="say \\"x\\"\\nback\\\\slash"];',
        '  s0 -> s1 [label="3*mu + 1/Z"];',
        '  s1 -> s0 [label="2*(1/Z)"];',
        '  s1 -> s1 [label="3", style=dashed];',
        "}",
    ]


def test_a_large_chain_is_no_picture():
    assert Dot().emit(hand_chains.finite_source(LARGEST - 1), "q")
    with pytest.raises(LimitError, match=f"{LARGEST + 1} states"):
        Dot().emit(hand_chains.finite_source(LARGEST), "q")
