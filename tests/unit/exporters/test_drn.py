from fractions import Fraction

import hand_chains

from serq.exporters.drn import Drn, drn_text
from serq.exporters.explored import explored

make = hand_chains.make_chain


def test_a_small_chain_as_drn():
    chain = make(
        [{1: Fraction(1, 3)}, {0: 3, 1: 2}],
        rewards={"n": [0, 1], "m": [Fraction(1, 2), 0]},
        labels={"busy": [1], "any": [0, 1]},
    )
    assert drn_text(explored(chain)).splitlines() == [
        "@type: CTMC",
        "@value_type: rational",
        "@parameters",
        "",
        "@reward_models",
        "m n",
        "@nr_states",
        "2",
        "@nr_choices",
        "2",
        "@model",
        "state 0 !1/3 [1/2,0] init any",
        "\taction 0",
        "\t\t1 : 1/3",
        "state 1 !5 [0,1] any busy",
        "\taction 0",
        "\t\t0 : 3",
        "\t\t1 : 2",
    ]


def test_without_rewards_there_is_no_section_for_them():
    text = drn_text(explored(make([{1: 1}, {0: 1}])))
    assert "@reward_models" not in text
    assert "[" not in text


def test_a_state_without_a_way_out_gets_a_loop():
    lines = drn_text(explored(make([{1: 2}, {}]))).splitlines()
    assert lines[-3:] == ["state 1 !1", "\taction 0", "\t\t1 : 1"]


def test_the_files():
    assert set(Drn().emit(hand_chains.finite_source(2), "q")) == {"q.drn", "q.props", "q.map.json"}
