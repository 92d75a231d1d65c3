from fractions import Fraction

import hand_chains
import pytest

from serq.compare.explicit_files import read_explicit
from serq.exporters.explicit import Explicit

FILES = {
    "q.tra": "2 2\n0 1 0.25\n1 0 1/3\n",
    "q.lab": '0="init" 1="deadlock" 2="busy"\n0: 0\n1: 2\n',
    "q.srew": '# Reward structure "n"\n# State rewards\n2 1\n1 0.5\n',
}


def test_what_was_written_is_read():
    chain = hand_chains.finite_source(3)
    got = read_explicit(Explicit("rational").emit(chain, "q"))
    assert got.size == 4
    assert got.transitions == tuple(sorted((t.source, t.target, t.rate) for t in chain.transitions))
    assert got.labels == {"init": {0}, "deadlock": set(), "empty": {0}, "full": {3}}
    assert got.rewards["stage_svc_number"] == {1: 1, 2: 2, 3: 3}


def test_decimals_and_fractions_are_read_exactly():
    got = read_explicit(FILES)
    assert got.transitions == ((0, 1, Fraction(1, 4)), (1, 0, Fraction(1, 3)))
    assert got.rewards == {"n": {1: Fraction(1, 2)}}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.tra", "2 3\n0 1 0.25\n1 0 1/3\n", "announces 3 transitions"),
        ("q.tra", "2 2\n1 0 1\n0 1 1\n", "ascending"),
        ("q.tra", "2 2\n0 1 1\n0 1 1\n", "twice"),
        ("q.tra", "2 2\n0 1 1\n1 2 1\n", "state 2"),
        ("q.tra", "2 2\n0 1 1\n1 0 fast\n", "fast"),
        ("q.lab", '0="init"\n5: 0\n', "state 5"),
        ("q.srew", "2 1\n1 0.5\n", "name of its reward"),
        ("q.srew", '# Reward structure "n"\n# State rewards\n2 2\n1 0.5\n', "counts"),
        ("q2.tra", "1 0\n", "one .tra file, not 2"),
    ],
)
def test_files_that_do_not_fit_are_refused(name, text, said):
    with pytest.raises(ValueError, match=said):
        read_explicit({**FILES, name: text})
