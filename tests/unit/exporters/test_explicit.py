import json
from fractions import Fraction

import hand_chains
import pytest

from serq.exporters.explicit import Explicit

make = hand_chains.make_chain


def test_the_files_of_a_small_chain():
    chain = make(
        [{1: Fraction(1, 4)}, {0: 3, 1: 2}],
        rewards={"n": [0, Fraction(1, 2)]},
        labels={"busy": [1]},
    )
    texts = Explicit().emit(chain, "small")
    assert set(texts) == {"small.tra", "small.sta", "small.lab", "small.srew", "small.props", "small.map.json"}
    assert texts["small.tra"] == "2 3\n0 1 0.25\n1 0 3\n1 1 2\n"
    assert texts["small.sta"] == "(s)\n0:(0)\n1:(1)\n"
    assert texts["small.lab"] == '0="init" 1="deadlock" 2="busy"\n0: 0\n1: 2\n'
    assert texts["small.srew"] == '# Reward structure "n"\n# State rewards\n2 1\n1 0.5\n'
    assert json.loads(texts["small.map.json"])["numbers"] == "decimals, exact"


def test_several_rewards_are_numbered_as_prism_does():
    texts = Explicit().emit(hand_chains.finite_source(2), "q")
    rewards = sorted(name for name in texts if name.endswith(".srew"))
    assert rewards == ["q1.srew", "q2.srew", "q3.srew", "q4.srew"]


def test_a_state_without_a_way_out_is_a_deadlock_without_a_rate():
    texts = Explicit().emit(make([{1: 1}, {}]), "q")
    assert texts["q.tra"] == "2 1\n0 1 1\n"
    assert texts["q.lab"] == '0="init" 1="deadlock"\n0: 0\n1: 1\n'


@pytest.mark.parametrize(
    ("numerals", "rate", "said"),
    [("rational", "1/3", "rationals, exact"), ("decimal", "0.3333333333333333", "decimals, some rounded")],
)
def test_thirds_are_exact_only_as_rationals(numerals, rate, said):
    texts = Explicit(numerals).emit(make([{1: Fraction(1, 3)}, {0: 1}]), "q")
    assert texts["q.tra"] == f"2 2\n0 1 {rate}\n1 0 1\n"
    assert json.loads(texts["q.map.json"])["numbers"].startswith(said)


def test_every_file_has_an_announced_ending():
    target = Explicit()
    for name in target.emit(hand_chains.finite_source(3), "q"):
        assert name.endswith(target.suffixes)
