import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.exporters.names import NameMap, is_identifier, mangle, reserved_words

NAMES = st.text(st.sampled_from("abRC_019.[]-é "), min_size=1, max_size=8)


@pytest.mark.parametrize("word", ["ma", "pomdp", "smg", "init", "R", "C", "F", "LRA", "player", "deadlock", "T", "min"])
def test_the_words_of_the_field_reports_are_reserved(word):
    assert word in reserved_words()


def test_every_reserved_word_is_renamed_and_keeps_its_letters():
    for word in reserved_words():
        assert mangle(word) != word
        assert mangle(word).replace("_", "") == word.replace("_", "")


@pytest.mark.parametrize("name", ["n.endmodule", "endmodule1", "sendrewards"])
def test_no_identifier_holds_a_word_that_closes_a_block(name):
    # Storm looks for these as text, inside of identifiers too.
    assert "endmodule" not in mangle(name)
    assert "endrewards" not in mangle(name)


@pytest.mark.parametrize(
    ("name", "identifier"),
    [
        ("svc", "svc"),
        ("stage.svc.number", "stage_svc_number"),
        ("kv[0]", "kv_0"),
        ("pool.kv[12].used", "pool_kv_12_used"),
        ("2nd", "_2nd"),
        ("R", "R_"),
        ("trueness", "_trueness"),
        ("untrue", "untrue"),
        ("[]", "_"),
    ],
)
def test_mangling_by_example(name, identifier):
    assert mangle(name) == identifier


def test_colliding_names_stay_apart():
    names = NameMap()
    first, second, third = (names.identifier(n) for n in ("kv[0]", "kv_0", "kv.0"))
    assert (first, second, third) == ("kv_0", "kv_0_2", "kv_0_3")


def test_things_of_different_kinds_never_share_an_identifier():
    names = NameMap()
    assert names.identifier("svc", "label") != names.identifier("svc", "reward")


def test_taken_identifiers_are_left_alone():
    assert NameMap(taken=["s"]).identifier("s") == "s_2"


def test_the_map_tells_what_was_renamed_and_from_which_line():
    names = NameMap()
    names.identifier("ma", "variable", [3, 7])
    names.identifier("svc", "variable")
    assert names.renamed() == {"ma": "ma_"}
    assert names.to_dict()["ma_"] == {"kind": "variable", "name": "ma", "lines": [3, 7]}


@given(st.lists(st.tuples(NAMES, st.sampled_from(["label", "reward"]))))
def test_identifiers_are_legal_distinct_stable_and_reversible(things):
    names = NameMap()
    given_out = {thing: names.identifier(*thing) for thing in things}
    assert len(set(given_out.values())) == len(given_out)
    back = NameMap.from_dict(json.loads(json.dumps(names.to_dict())))
    for (name, kind), identifier in given_out.items():
        assert is_identifier(identifier)
        assert re.fullmatch(r"\w+", identifier, re.ASCII)
        assert names.identifier(name, kind) == identifier
        assert (back.named(identifier).name, back.named(identifier).kind) == (name, kind)
        assert back.identifier(name, kind) == identifier
