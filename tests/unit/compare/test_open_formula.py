"""Refusals of open programs name the closed form that has the answers."""

import pytest

from serq.api.solved import solve_program
from serq.base.errors import OutsideFragmentError
from serq.pipeline import SolveOptions, load_text

HEAD = "stage a : {a};  stage b : fifo;\nworkload {{ arrive poisson(0.5); }}\nsession {{ {body} }}"


def notes_of(body: str, a: str = "fifo") -> list[str]:
    with pytest.raises(OutsideFragmentError) as refused:
        solve_program(load_text(HEAD.format(a=a, body=body)).program, SolveOptions())
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "SQ612"
    return [note.message for note in diagnostic.notes]


@pytest.mark.parametrize(
    ("body", "a", "grows", "formula"),
    [
        ("run a (~exp(1)); run b (~exp(1));", "fifo", "sessions waiting for a", "(Jackson)"),
        ("run a (~exp(1));", "delay", "sessions at a", "M/G/inf"),
        ("set k = ~choice(1: 1, 3: 1); run a (~exp(k / 4));", "ps(1)", "2 kinds of sessions at a", "M/G/1-PS"),
        ("set k = ~choice(1: 1, 3: 1); run a (~exp(k / 4));", "fifo", "2 kinds of sessions waiting", "M/G/1: Poisson"),
    ],
)
def test_a_formula_that_fits_is_named(body: str, a: str, grows: str, formula: str) -> None:
    levels, closed = notes_of(body, a)
    assert levels.startswith("no matrix-geometric solution either: ")
    assert grows in levels
    assert closed.startswith("a closed form fits, and `serq closed-form` gives its exact answers: ")
    assert formula in closed


def test_no_formula_no_note() -> None:
    (levels,) = notes_of(
        "hold s (1) { run a (~exp(1)); } run b (~erlang(2, 1));", "fifo;  pool s { cap 2; }  stage c : fifo"
    )
    assert "2 numbers grow without bound: sessions waiting for b (line 3) and sessions waiting for s (line 3)" in levels


def test_other_kinds_of_refusals_stay_as_they_are() -> None:
    with pytest.raises(OutsideFragmentError) as refused:
        solve_program(load_text(HEAD.format(a="fifo", body="run a (1); run b (~exp(1));")).program, SolveOptions())
    assert [d.notes for d in refused.value.diagnostics] == [(), ()]
