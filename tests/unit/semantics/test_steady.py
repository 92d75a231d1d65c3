from fractions import Fraction

import hand_chains
import pytest

from serq.base.errors import NoSteadyStateError
from serq.base.render import render_all
from serq.base.source import SourceFile
from serq.semantics import classes
from serq.semantics.steady import recurrent_class

make = hand_chains.make_chain
TEXT = SourceFile("bad.sq", "pool a { cap 1; }\n\n    hold a (1) {\n  hold b (1) {\n}}")


def refusal(chain, source=TEXT):
    with pytest.raises(NoSteadyStateError) as caught:
        recurrent_class(chain, source)
    assert caught.value.exit_status == 1
    return caught.value.diagnostics


def test_the_recurrent_class_leaves_transient_states_out():
    assert recurrent_class(make([{1: 1}, {2: 1}, {1: 1}])) == (1, 2)


def test_a_chain_with_nobody_in_it_has_a_dull_steady_state():
    assert recurrent_class(make([{}])) == (0,)


def test_a_batch_is_told_that_its_sessions_end():
    (found,) = refusal(make([{1: 3}, {2: 2}, {3: 1}, {}], lines={0: (3,), 1: (3,), 2: (3,)}))
    assert found.code == "SQ650"
    assert "all sessions end with probability 1" in found.message
    assert "mean time of 11/6 = 1.83333" in found.message
    assert "every throughput is 0" in found.message


def test_sessions_that_end_in_several_empty_states_end_all_the_same():
    (found,) = refusal(make([{1: 1, 2: 1}, {}, {}], lines={0: (3,)}))
    assert found.code == "SQ650"


def test_a_deadlock_points_at_every_line_where_a_session_waits():
    (found,) = refusal(make([{1: 1}, {}], lines={0: (3,), 1: (4, 3, 4)}))
    assert found.code == "SQ651"
    assert "with probability 1 " in found.message
    assert "s1" in found.message
    assert (found.span.line, found.span.column, found.span.end_column) == (3, 5, 17)
    assert [(note.span.line, note.span.column) for note in found.notes] == [(4, 3)]
    assert "hold a (1) {\n      |     ^^^^^^^^^^^^" in render_all(TEXT, [found])


def test_several_classes_are_named_with_their_probabilities_the_likeliest_first():
    rows = [{1: 3, 2: 4, 4: 1}, {0: 2}, {3: 1}, {2: 1}, {}]
    (found,) = refusal(make(rows, lines={i: (3,) for i in range(4)}))
    assert found.code == "SQ652"
    assert "2 closed classes" in found.message
    assert [note.message for note in found.notes] == [
        "with probability 4/5 = 0.8: 2 states such as s2",
        "with probability 1/5 = 0.2: all sessions have ended",
    ]


def test_a_possible_deadlock_beside_other_ends_is_reported_twice():
    several, deadlock = refusal(make([{1: 1, 2: 2}, {1: 5}, {}], lines={i: (3,) for i in range(3)}))
    assert (several.code, deadlock.code) == ("SQ652", "SQ651")
    assert several.notes[1].message == "with probability 1/3 = 0.333333: for ever in s1"
    assert "with probability 2/3 = 0.666667 " in deadlock.message


def test_of_many_ends_only_some_are_shown():
    rows = [{i: i for i in range(1, 9)}, *({} for _ in range(8))]
    several, *deadlocks = refusal(make(rows, lines={i: (4,) for i in range(9)}))
    assert [note.message for note in several.notes][-1] == "and 3 more"
    assert [d.state for d in deadlocks] == ["s8", "s7", "s6", "s5", "s4"]


def test_long_fractions_are_shown_as_decimals():
    rows = [{1: Fraction(10**15 + 1, 10**15 + 3), 2: 1}, {1: 1}, {2: 1}]
    (several,) = refusal(make(rows))
    assert several.notes[0].message == "with probability 0.5: for ever in s2"


def test_without_the_programs_text_the_chain_lends_its_name():
    with pytest.raises(NoSteadyStateError) as caught:
        recurrent_class(make([{1: 1}, {}], name="lonely"))
    assert caught.value.source.name == "lonely"


def test_where_absorption_is_too_large_to_compute_the_refusal_stands(monkeypatch):
    monkeypatch.setattr(classes, "LARGEST_TRANSIENT_CLASS", 1)
    (found,) = refusal(make([{1: 1}, {0: 1, 2: 1}, {}]))
    assert "after a mean time of unknown length;" in found.message
