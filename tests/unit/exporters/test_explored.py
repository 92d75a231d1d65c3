import json
from dataclasses import replace
from fractions import Fraction

import hand_chains

from serq.exporters.drn import Drn
from serq.exporters.explicit import Explicit
from serq.exporters.explored import NEVER, START, explored, map_text, properties_text, rationals_of
from serq.exporters.umb import Umb
from serq.ir.chain import Approximation, Nearness, Ratio, Unmapped

make = hand_chains.make_chain


def test_rates_are_merged_and_sorted_and_self_loops_stay():
    chain = make([{1: 1, 0: 4}, {0: Fraction(1, 3)}])
    twice = type(chain)(**{**vars(chain), "transitions": chain.transitions[::-1] + chain.transitions[:1]})
    assert explored(twice).rates == ({0: Fraction(4), 1: Fraction(2)}, {0: Fraction(1, 3)})
    assert list(explored(twice).rates[0]) == [0, 1]


def test_names_become_identifiers_and_rewards_rates():
    ready = explored(hand_chains.finite_source(2))
    assert set(ready.labels) == {"empty", "full"}
    assert ready.rewards["stage_svc_completions"] == (0, 1, 1)
    assert ready.rewards["stage_svc_number"] == (0, 1, 2)


def test_labels_and_rewards_of_one_name_stay_apart():
    ready = explored(make([{1: 1}, {0: 1}], rewards={"R": [1, 0]}, labels={"R": [0]}))
    assert len({*ready.labels, *ready.rewards}) == 2
    assert {ready.names.named(i).kind for i in (*ready.labels, *ready.rewards)} == {"label", "reward"}


def test_a_reward_that_nobody_earns_is_left_out_and_listed():
    ready = explored(make([{1: 1}, {0: 1}], rewards={"n": [0, 1], "zero": [0, 0]}))
    assert set(ready.rewards) == {"n"}
    assert ready.unearned == ("zero",)


def test_formulas_name_no_reward_that_is_in_no_file():
    one = Fraction(1)
    ratios = [
        Ratio("sum", ((one, "n"), (one, "zero"))),
        Ratio("none", ((one, "zero"),)),
        Ratio("absent", ((one, "nowhere"), (one, "n")), "n"),
        Ratio("never", ((one, "n"),), "zero"),
    ]
    chain = make([{1: 1}, {0: 1}], rewards={"n": [0, 1], "zero": [0, 0]}, ratios=ratios)
    ready = explored(chain)
    lines = properties_text(chain, ready).splitlines()
    assert lines == ["// sum = n", "// none = 0", "// absent = n / n", f"// never = {NEVER}", 'R{"n"}=? [ S ];']
    data = json.loads(map_text(chain, ready, {}))
    assert {t["reward"] for m in data["measures"] for t in m["terms"]} == set(data["names"]) == {"n"}
    assert {m["measure"]: m["per"] for m in data["measures"]} == {
        "sum": None,
        "none": None,
        "absent": "n",
        "never": None,
    }
    assert data["measures"][3]["reason"] == NEVER


def test_files_say_what_was_approximated():
    plain = make([{1: 1}, {0: 1}], rewards={"n": [0, 1]})
    near = replace(plain, approximated=(Approximation(Nearness.RATIONAL, "a number is irrational"),))
    assert properties_text(near, explored(near)).startswith("// approximated: a number is irrational: a rational next")
    assert len(json.loads(map_text(near, explored(near), {}))["approximated"]) == 1
    assert rationals_of(plain) == "rationals, exact"
    for target in (Drn(), Umb(), Explicit("rational"), Explicit()):
        assert "exact" not in json.loads(target.emit(near, "x")["x.map.json"])["numbers"]


def test_a_random_start_gets_a_state_of_its_own():
    ready = explored(make([{1: 1}, {0: 2}], initial={0: Fraction(1, 3), 1: Fraction(2, 3)}, rewards={"n": [1, 1]}))
    assert ready.states == ("s0", "s1", START)
    assert ready.initial == 2
    assert ready.rates[2] == {0: Fraction(1, 3), 1: Fraction(2, 3)}
    assert ready.rewards["n"] == (1, 1, 0)


def test_a_certain_start_gets_none():
    ready = explored(make([{1: 1}, {0: 2}], initial={0: 0, 1: 1}))
    assert (ready.states, ready.initial) == (("s0", "s1"), 1)


def test_the_map_leads_back_to_the_program():
    chain = hand_chains.finite_source(2)
    data = json.loads(map_text(chain, explored(chain), {"format": "test"}))
    assert data["model"] == "mm1n"
    assert data["format"] == "test"
    assert data["states"][1] == {"index": 1, "state": "s1", "lines": [3]}
    assert data["names"]["stage_svc_number"] == {"kind": "reward", "name": "stage.svc.number", "lines": []}
    assert data["measures"][-1] == {
        "measure": "stage.svc.sojourn",
        "terms": [{"weight": "1", "reward": "stage_svc_number"}],
        "per": "stage_svc_completions",
    }


def test_the_properties_say_how_measures_are_made():
    ratios = [
        Ratio("plain", ((Fraction(1), "a.b"),)),
        Ratio("per", ((Fraction(1), "a.b"), (Fraction(1, 2), "c")), "c"),
        Ratio("empty", ()),
        Unmapped("lost", "because"),
    ]
    chain = make([{1: 1}, {0: 1}], rewards={"a.b": [1, 0], "c": [0, 1]}, ratios=ratios)
    assert properties_text(chain, explored(chain)).splitlines() == [
        "// plain = a_b",
        "// per = (a_b + 1/2 * c) / c",
        "// empty = 0",
        'R{"a_b"}=? [ S ];',
        'R{"c"}=? [ S ];',
    ]
